"""`tortuga bench fanout`: one match that many watch, and how long the last of them waits for an update."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from services.cli import output
from services.cli.bench import figures
from services.cli.bench.cores import Cores
from services.cli.bench.figures import Spread
from services.cli.bench.local import LocalTable
from services.cli.bench.stage import chosen_game, data_folder, load, measured, platform
from services.kit.attachment import Delivery
from services.kit.clock import StoreClock
from services.kit.game import AnyGame
from services.kit.host import Host
from services.kit.store.sqlite import SqliteMatchStore

_ENTRIES = 40
"""Entries over which encodings are counted."""

_UNITS = {"deliveries_per_second": 0, "entries_per_second": 0, "p50_ms": 2, "p99_ms": 2, "us_per_delivery": 1}
"""The figures, with the decimals that are shown."""


def fanout(
    players: Annotated[int, typer.Option(min=1, help="Seats of the match.")] = 4,
    spectators: Annotated[int, typer.Option(min=0, help="Spectators, each with a stream of its own.")] = 50,
    seconds: Annotated[float, typer.Option("--seconds-per-slice", min=0.05, help="Length of a slice.")] = 2.0,
    slices: Annotated[int, typer.Option(min=1, help="Slices.")] = 5,
    game: Annotated[str, typer.Option(help="The game that is played.")] = "corsari",
    data: Annotated[Path | None, typer.Option(help="Data folder, kept; by default a temporary one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Play one match over the real platform, each action as soon as the last viewer has read the one before."""
    chosen = chosen_game(game)
    if not chosen.description.min_seats <= players <= chosen.description.max_seats:
        output.fail(f"{game} has {chosen.description.min_seats} to {chosen.description.max_seats} seats", 2)
    with data_folder(data) as folder:
        found = measured(_fanned_out(chosen, folder, players, spectators, seconds, slices))
        encodings = measured(_encodings(chosen, folder, players, spectators))
    spreads = _spreads(found["slices"])
    told: dict[str, Any] = {
        **figures.as_json(spreads),
        "encodings_per_entry": round(encodings, 2),
        "players": players,
        "spectators": spectators,
        "skipped": found["skipped"],
        "slices": slices,
        "seconds_per_slice": seconds,
    }
    rows = [[name, spread.text(_UNITS[name]), spread.quartiles(_UNITS[name])] for name, spread in spreads.items()]
    rows.append(["encodings_per_entry", f"{encodings:.1f}", ""])
    title = f"One match of {game}: {players} players, {spectators} spectators; milliseconds from act to last delivery"
    output.result(told, as_json=as_json, text=figures.table(title, ("figure", "median", "quartiles"), rows))


async def _fanned_out(
    game: AnyGame, folder: Path, players: int, spectators: int, seconds: float, slices: int
) -> dict[str, Any]:
    cores = Cores.of_machine()
    async with platform(game.id, folder, cores) as fleet:
        wanted = {
            "game": game.id,
            "target": fleet.gateway_address,
            "pids": {"gateway": fleet.pid("gateway"), "service": fleet.pid(game.id)},
            "players": players,
            "spectators": spectators,
            "seconds": seconds,
            "slices": slices,
            "seed": secrets.randbelow(1 << 32),
        }
        return await load("fanout", wanted, cores)


async def _encodings(game: AnyGame, folder: Path, players: int, spectators: int) -> float:
    """Pieces that the service encodes for one entry and one gateway: the shared part, and each delivery's own."""
    counts: list[int] = []

    def told(shared: bytes, deliveries: Sequence[Delivery]) -> None:
        counts.append(bool(shared) + len(deliveries))

    store = SqliteMatchStore(folder / "bench-encodings.db")
    host = Host(game, store, StoreClock())
    try:
        await LocalTable.make(host, "encodings", players)
        table = LocalTable(host, "encodings", players, Random(players), told)  # noqa: S311 - choices of a benchmark
        await table.play(_ENTRIES, spectators)
        table.leave()
    finally:
        await host.close()
        await store.close()
    return sum(counts) / len(counts)


def _spreads(slices: Sequence[dict[str, Any]]) -> dict[str, Spread]:
    def used(each: dict[str, Any]) -> float:
        return sum(float(sum(cpu)) for cpu in each["cpu"].values()) * 1e6

    return {
        "deliveries_per_second": Spread.of(each["deliveries"] / each["seconds"] for each in slices),
        "entries_per_second": Spread.of(each["count"] / each["seconds"] for each in slices),
        "p50_ms": Spread.of(each["p50_ms"] for each in slices),
        "p99_ms": Spread.of(each["p99_ms"] for each in slices),
        "us_per_delivery": Spread.of(used(each) / max(1, each["deliveries"]) for each in slices),
    }
