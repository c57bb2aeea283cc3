"""Counters of /metrics over the lives of processes: each life's newest figures count, and they add up."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

import httpx
from prometheus_client.parser import text_string_to_metric_families

from services.cli.fleet import Fleet

WANTED = (
    "tortuga_append_conflicts_total",
    "tortuga_outcomes_settled_total",
    "tortuga_duplicate_actions_total",
    "tortuga_attachments_rehomed_total",
    "tortuga_resume_seconds_count",
)
"""What a run under chaos must have seen: each above zero."""

_EVERY_SECONDS = 0.25


class Counters:
    """Scrapes all members of a fleet, often, and before each kill."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._lives: dict[int, Counter[str]] = {}
        self._http = httpx.AsyncClient(timeout=1.0)

    async def follow(self) -> None:
        """Scrape for ever. What a process counted after its last scrape is lost with it."""
        while True:
            await self.scrape()
            await asyncio.sleep(_EVERY_SECONDS)

    async def scrape(self, *names: str) -> None:
        """Read the figures of the members *names*, by default of all; one that does not answer is left out."""
        await asyncio.gather(*map(self._scrape, names or self._fleet.members))

    def add(self, pid: int, figures: dict[str, float]) -> None:
        """What a process said of itself."""
        life = self._lives.setdefault(pid, Counter())
        for name, value in figures.items():
            life[name] = max(life[name], int(value))

    def totals(self) -> dict[str, int]:
        """The sums over all lives."""
        return {name: sum(life[name] for life in self._lives.values()) for name in WANTED}

    async def _scrape(self, name: str) -> None:
        pid = self._fleet.pid(name)
        if pid is None:
            return
        with suppress(httpx.HTTPError):
            member = self._fleet.members[name]
            answer = await self._http.get(f"http://{member.host}:{member.http_port}/metrics")
            figures: Counter[str] = Counter()
            for family in text_string_to_metric_families(answer.text):
                for sample in family.samples:
                    if sample.name in WANTED:
                        figures[sample.name] += int(sample.value)
            self.add(pid, dict(figures))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
