"""`tortuga bench fold`: milliseconds to bring a match back into memory from its log."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import typer

from services.cli import output
from services.cli.bench import figures
from services.cli.bench.figures import Spread
from services.cli.bench.local import LocalTable
from services.cli.bench.stage import chosen_game, data_folder, measured
from services.cli.progress import progress
from services.kit.attachment import Delivery
from services.kit.clock import StoreClock
from services.kit.game import AnyGame, installed_games
from services.kit.host import Host
from services.kit.session import Session
from services.kit.store.sqlite import SqliteMatchStore
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import play_pb2

LENGTHS = (100, 300)
"""Entries of the matches."""


class _Logged(NamedTuple):
    """A match in the log."""

    game: AnyGame
    match_id: str
    wanted: int
    entries: int
    """How many it has: fewer than wanted if it ended before."""


def fold(
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    seats: Annotated[int | None, typer.Option(min=1, help="Seats of the matches; by default the fewest.")] = None,
    slices: Annotated[int, typer.Option(min=1, help="Times that each match is brought back.")] = 9,
    data: Annotated[Path | None, typer.Option(help="Folder for the logs, kept; by default a temporary one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Play matches of 100 and 300 entries into a SQLite log, and let new hosts bring them back for a viewer."""
    games = [chosen_game(each) for each in game or installed_games()]
    with data_folder(data) as folder:
        found = measured(_folded(games, seats, folder, slices))
    told: list[dict[str, Any]] = [
        {"game": log.game.id, "wanted": log.wanted, "entries": log.entries, **figures.as_json({"ms": spread})}
        for log, spread in found
    ]
    text = figures.table(
        f"Milliseconds from an attach to its answer, match not in memory, {slices} times each",
        ("game", "entries", "ms", "quartiles", "µs an entry"),
        [
            (
                log.game.id,
                str(log.entries),
                spread.text(1),
                spread.quartiles(1),
                f"{spread.median / log.entries * 1e3:.0f}",
            )
            for log, spread in found
        ],
    )
    output.result({"folds": told, "slices": slices}, as_json=as_json, text=text)


async def _folded(games: list[AnyGame], seats: int | None, folder: Path, slices: int) -> list[tuple[_Logged, Spread]]:
    found = []
    with progress("bench fold", len(games) * slices) as bar:
        for game in games:
            store = SqliteMatchStore(folder / f"bench-fold-{game.id}.db")
            try:
                logs = [await _play(game, store, seats or game.description.min_seats, length) for length in LENGTHS]
                seconds: dict[str, list[float]] = {log.match_id: [] for log in logs}
                for _ in range(slices):
                    for log in logs:
                        seconds[log.match_id].append(await _bring_back(log, store))
                    bar.advance()
            finally:
                await store.close()
            found += [(log, Spread.of(each * 1000 for each in seconds[log.match_id])) for log in logs]
    return found


async def _play(game: AnyGame, store: SqliteMatchStore, seats: int, length: int) -> _Logged:
    """A match of *length* entries, or of as many as it takes to end."""
    host = Host(game, store, StoreClock())
    match_id = secrets.token_urlsafe(16)
    await LocalTable.make(host, match_id, seats)
    table = LocalTable(host, match_id, seats, Random(length))  # noqa: S311 - choices of a benchmark
    await table.play(length)
    table.leave()
    await host.close()
    stored = await store.load(match_id)
    return _Logged(game, match_id, length, stored.revision if stored is not None else 0)


async def _bring_back(log: _Logged, store: SqliteMatchStore) -> float:
    """Seconds from an attach at a host that does not know the match to its answer."""
    host = Host(log.game, store, StoreClock())
    viewer = _Viewer()
    session = Session(host, viewer)
    wanted = link_pb2.Open(match_id=log.match_id, player_id="viewer", attach=play_pb2.Attach(spectate=True))
    started = time.perf_counter()
    session.open(1, wanted)
    answered = await viewer.answered
    session.close_all()
    await host.close()
    return answered - started


class _Viewer:
    """An outlet that notes when the first message comes."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """The answer."""
        if not self.answered.done():
            self.answered.set_result(time.perf_counter())

    def end(self, number: int, reason: str) -> None:
        """No answer."""
        if not self.answered.done():
            self.answered.set_exception(RuntimeError(reason))
