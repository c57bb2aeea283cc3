"""What `bench actions` prints: the ratios that are promised, and where the microseconds go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.cli.bench import figures
from services.cli.bench.audit import Audit
from services.cli.bench.figures import Spread

SERVERS = ("gateway", "service")

Slice = dict[str, Any]
"""What the load measured in one slice: count, seconds, processor seconds [user, system] by server, and so on.

`echo` in it is the slice of the echo just before, or None.
"""

_FIGURES = {
    "echo_rps": ("echoes/s", 0),
    "platform_rps": ("actions/s", 0),
    "ratio": ("ratio", 2),
    "cpu_ratio": ("CPU ratio", 2),
    "p50_ms": ("p50 ms", 1),
    "p99_ms": ("p99 ms", 1),
    "link_batch": ("link batch", 1),
    "commit_batch": ("commit batch", 1),
}
"""The figures of a number of matches: what they are called in tables, and the decimals shown."""

_PARTS = {
    "parse": "service: request to action",
    "judge": "service: judging, of which",
    "copy": "  copy of the position",
    "rules": "  rules",
    "entry": "  entry",
    "hashes": "  hash chain",
    "encode": "service: public and both seats' bytes",
    "append": "service: SQLite append, fsync shared",
    "frames": "both: link frames, built and parsed",
}
"""The parts in the order of the table; `measure_parts` says what each is."""

_WITHIN_SERVICE = ("parse", "judge", "encode", "append")


@dataclass(frozen=True)
class Report:
    """The result of one run, as measured by the load and found in the log."""

    game: str
    matches: int
    levels: Sequence[int]
    seconds: float
    found: Mapping[str, Any]
    audit: Audit | None = None
    """None of a cluster whose log is out of reach."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Microseconds of single parts of an action."""
    filesystem: str = ""

    def as_json(self) -> dict[str, object]:
        """What `--json` prints."""
        acknowledged = sum(self.found["matches"].values())
        told: dict[str, object] = {
            **dict.fromkeys(_FIGURES),  # null is what was not measured
            **figures.as_json(self._spreads(self.matches)),
            "game": self.game,
            "matches": self.matches,
            "connections": self.found["connections"],
            "slices": len(self._slices),
            "seconds_per_slice": self.seconds,
            "counted": sum(each[str(self.matches)]["count"] for each in self._slices),
            "acknowledged": acknowledged,
            "matches_made": len(self.found["matches"]),
            "matches_made_late": self.found["made_late"],
            "matches_played_out": self.found["ended"],
            "refused": self.found["refused"],
        }
        if len(self.levels) > 1:
            told["sweep"] = [{"matches": level, **figures.as_json(self._spreads(level))} for level in self.levels]
        if self.audit is not None:
            told |= {"logged": self.audit.logged, "lost": self.audit.lost, "filesystem": self.filesystem}
            told |= {"verified": self.audit.finished, "replayed": self.audit.running, "where": self._where()}
        return told

    def text(self) -> str:
        """What is printed for people."""
        spreads = self._spreads(self.matches)
        rows = [
            (words, spreads[name].text(digits), spreads[name].quartiles(digits))
            for name, (words, digits) in _FIGURES.items()
            if name in spreads
        ]
        title = f"Durable actions of {self.game}, {self.matches} matches, {len(self._slices)} slices"
        shown = [figures.table(title, ("figure", "median", "quartiles"), rows)]
        if len(self.levels) > 1:
            columns = ("matches", *(words for words, _ in _FIGURES.values()))
            shown.append(figures.table("By number of matches, medians", columns, map(self._row, self.levels)))
        if self._has_echo:
            columns = ("process", "all", "user", "system")
            shown.append(figures.table("Processor µs, per echo and per action", columns, self._process_rows()))
        if self.parts:
            title = "Parts of an action alone, µs: measured in this process, warm and one after the other"
            shown.append(figures.table(title, ("part", "µs"), self._part_rows()))
        return "\n".join([*shown, self._sentence()])

    @property
    def _slices(self) -> list[dict[str, Slice]]:
        found: list[dict[str, Slice]] = self.found["slices"]
        return found

    def _spread(self, figure: Callable[[dict[str, Slice]], float]) -> Spread:
        return Spread.of(figure(each) for each in self._slices)

    def _spreads(self, level: int) -> dict[str, Spread]:
        """All figures of one number of matches; the last ones only as far as they were measured."""
        at = str(level)
        spreads = {"platform_rps": self._spread(lambda each: _rate(each[at]))}
        if self._has_echo:
            spreads |= {
                "echo_rps": self._spread(lambda each: _rate(each[at]["echo"])),
                "ratio": self._spread(lambda each: _rate(each[at]) / _rate(each[at]["echo"])),
                "cpu_ratio": self._spread(lambda each: _used(each[at], *SERVERS) / _used(each[at]["echo"], "echo")),
            }
        for name in ("p50_ms", "p99_ms", "link_batch", "commit_batch"):
            values = [value for each in self._slices if (value := each[at].get(name)) is not None]
            if values:
                spreads[name] = Spread.of(values)
        return spreads

    @property
    def _has_echo(self) -> bool:
        return all(each[str(self.matches)]["echo"] is not None for each in self._slices)

    def _per_action(self, server: str) -> tuple[Spread, Spread, Spread]:
        """Microseconds of *server*: all, user, system; of the echo's process per echo."""
        own = [each[str(self.matches)] for each in self._slices]
        slices = [each["echo"] for each in own] if server == "echo" else own
        return (
            Spread.of(_used(each, server) for each in slices),
            Spread.of(each["cpu"][server][0] / max(1, each["count"]) * 1e6 for each in slices),
            Spread.of(each["cpu"][server][1] / max(1, each["count"]) * 1e6 for each in slices),
        )

    def _where(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for server in ("echo", *SERVERS):
            both, user, system = self._per_action(server)
            found[server] = {
                "us": round(both.median, 1),
                "user_us": round(user.median, 1),
                "system_us": round(system.median, 1),
            }
        return found | {"parts_us": {name: round(value, 2) for name, value in self.parts.items()}}

    def _row(self, level: int) -> list[str]:
        spreads = self._spreads(level)
        cells = [spreads[name].text(digits) if name in spreads else "-" for name, (_, digits) in _FIGURES.items()]
        return [str(level), *cells]

    def _process_rows(self) -> Iterator[list[str]]:
        for server in ("echo", *SERVERS):
            yield [server, *(spread.text() for spread in self._per_action(server))]

    def _part_rows(self) -> Iterator[list[str]]:
        for name, words in _PARTS.items():
            yield [words, f"{self.parts[name]:.1f}"] if name in self.parts else [words, "-"]
        rest = self._per_action("service")[0].median - sum(self.parts.get(name, 0.0) for name in _WITHIN_SERVICE)
        yield ["service: the rest (gRPC, link, loop)", f"{rest:.1f}"]

    def _sentence(self) -> str:
        made, late = len(self.found["matches"]), self.found["made_late"]
        told = f"{sum(self.found['matches'].values()):,} actions acknowledged in {made} matches ({late} made late)"
        if self.found["refused"]:
            told += f"; refused: {self.found['refused']}"
        if self.audit is None:
            return told
        checked = f"all {self.audit.finished} matches verify"
        if self.audit.running:
            checked = f"{self.audit.finished} finished matches verify, {self.audit.running} running ones replay"
        return f"{told}; {self.audit.logged:,} in the log on {self.filesystem}, {self.audit.lost} lost; {checked}"


def _rate(slice_: Slice) -> float:
    rate: float = slice_["count"] / slice_["seconds"]
    return rate


def _used(slice_: Slice, *servers: str) -> float:
    """Processor microseconds of *servers* per action or echo."""
    used = sum(float(sum(slice_["cpu"][server])) for server in servers)
    return used / max(1, int(slice_["count"])) * 1e6
