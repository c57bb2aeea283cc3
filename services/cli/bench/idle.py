"""`tortuga bench idle`: the memory that an open stream costs while nothing happens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from services.cli import output
from services.cli.bench import figures
from services.cli.bench.cores import Cores
from services.cli.bench.stage import chosen_game, data_folder, load, measured, platform

WANTED = {"gateway_kib_per_stream": 40.0, "service_kib_per_stream": 2.0}
"""What the figures are wanted to be at most."""


def idle(
    streams: Annotated[int, typer.Option(min=2, help="Streams of seats, and again as many of spectators.")] = 2000,
    connections: Annotated[int, typer.Option(min=1, help="Connections that they share.")] = 8,
    settle: Annotated[float, typer.Option(min=0.0, help="Seconds of silence before memory is read.")] = 2.0,
    game: Annotated[str, typer.Option(help="The game whose two-seat matches are attached to.")] = "corsari",
    data: Annotated[Path | None, typer.Option(help="Data folder, kept; by default a temporary one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Attach idle `Play` streams to matches, each seat its own, then as many spectators to one, and weigh the servers.

    A figure is the growth of a process's resident memory, from before the streams were opened until after.
    """
    chosen = chosen_game(game)
    with data_folder(data) as folder:
        found = measured(_weighed(chosen.id, folder, streams, connections, settle))
    told = _figures(found)
    output.result(told, as_json=as_json, text=_text(told))


async def _weighed(game: str, folder: Path, streams: int, connections: int, settle: float) -> dict[str, Any]:
    cores = Cores.of_machine()
    async with platform(game, folder, cores) as fleet:
        wanted = {
            "game": game,
            "target": fleet.gateway_address,
            "pids": {"gateway": fleet.pid("gateway"), "service": fleet.pid(game)},
            "streams": streams,
            "connections": connections,
            "settle": settle,
        }
        return await load("idle", wanted, cores)


def _figures(found: dict[str, Any]) -> dict[str, object]:
    """KiB per stream and per match, and the marks that they come from."""
    marks, streams = found["marks"], found["streams"]

    def grew(server: str, before: str, after: str, number: int) -> float:
        return round(float(marks[after][server] - marks[before][server]) / number, 2)

    return {
        "gateway_kib_per_stream": grew("gateway", "matches", "seats", streams),
        "service_kib_per_stream": grew("service", "matches", "seats", streams),
        "gateway_kib_per_spectator": grew("gateway", "seats", "spectators", streams),
        "service_kib_per_spectator": grew("service", "seats", "spectators", streams),
        "service_kib_per_match": grew("service", "start", "matches", max(1, found["matches"])),
        "streams": streams,
        "matches": found["matches"],
        "resident_kib": marks,
    }


def _text(told: dict[str, Any]) -> str:
    rows = [
        (
            words,
            f"{told[f'gateway_kib_per_{name}']:.1f}" if f"gateway_kib_per_{name}" in told else "-",
            f"{told[f'service_kib_per_{name}']:.1f}",
        )
        for name, words in (
            ("stream", f"an idle stream of a seat ({told['streams']} of them, {told['matches']} matches)"),
            ("spectator", f"an idle stream of a spectator ({told['streams']} at one match)"),
            ("match", "a match in memory, nobody attached"),
        )
    ]
    wanted = " and ".join(f"{most:g}" for most in WANTED.values())
    return figures.table(f"Resident memory, KiB; wanted: at most {wanted} a stream", ("of", "gateway", "service"), rows)
