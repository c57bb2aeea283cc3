"""`tortuga bench actions`: durable actions through gateway, service and log, beside a bare gRPC hello (design §1.5)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from services.cli import output
from services.cli.bench.actions_report import Report
from services.cli.bench.appends import Appender
from services.cli.bench.audit import Audit, audit, read_log
from services.cli.bench.cores import Cores, placed
from services.cli.bench.marks import filesystem
from services.cli.bench.parts import measure_parts
from services.cli.bench.stage import NotMeasured, chosen_game, data_folder, echo_server, load, measured, platform
from services.kit.game import AnyGame
from services.kit.judge import Divergence
from services.kit.verify import Tampered

SWEEP = (1, 8, 32, 128)
"""Numbers of matches that `--sweep` measures as well."""

_APPENDING = 16
"""Matches whose appends are measured alone, as a part: about the mean batch with 32 matches."""
_APPEND_SECONDS = 0.5


class Wanted(NamedTuple):
    """What is to be measured."""

    game: AnyGame
    matches: int
    levels: list[int]
    """Numbers of matches, each measured in each round."""
    seconds: float
    slices: int
    connections: int
    """Of the players' streams, and of the echo's calls."""

    def of(self, **more: object) -> dict[str, object]:
        """What the load is told."""
        return {
            "game": self.game.id,
            "levels": self.levels,
            "seconds": self.seconds,
            "slices": self.slices,
            "connections": self.connections,
            "seed": secrets.randbelow(1 << 32),
            **more,
        }


def actions(
    matches: Annotated[int, typer.Option(min=1, max=1000, help="Matches, each with one action in flight.")] = 32,
    seconds: Annotated[float, typer.Option("--seconds-per-slice", min=0.05, help="Length of a slice.")] = 2.0,
    slices: Annotated[int, typer.Option(min=1, help="Slices of echo and of actions, by turns.")] = 5,
    sweep: Annotated[bool, typer.Option("--sweep", help="Also with 1, 8, 32 and 128 matches.")] = False,
    connections: Annotated[int, typer.Option(min=1, help="Connections of the streams, and as many of the echo.")] = 1,
    game: Annotated[str, typer.Option(help="The game that is played; two seats, random and patient.")] = "corsari",
    target: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Load the gateway of a platform that runs; no echo, no CPU, no log."),
    ] = "",
    data: Annotated[Path | None, typer.Option(help="Data folder, kept; by default a temporary one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Play matches over the real platform as fast as they go, and compare an action with a bare gRPC hello.

    Ends with 1 if an acknowledged action is not in the log, or a match does not verify.
    """
    levels = sorted({*SWEEP, matches}) if sweep else [matches]
    wanted = Wanted(chosen_game(game), matches, levels, seconds, slices, connections)
    if target:
        report = measured(_of_cluster(wanted, target))
    else:
        with data_folder(data) as folder:
            report = measured(_of_platform(wanted, folder))
    output.result(report.as_json(), as_json=as_json, text=report.text())
    if report.audit is not None and report.audit.lost:
        output.fail(f"{report.audit.lost} acknowledged actions are not in the log")


async def _of_cluster(wanted: Wanted, target: str) -> Report:
    """Load a cluster that somebody else runs."""
    found = await load("actions", wanted.of(target=target, echo="", pids={}, pages={}), Cores(None, None))
    return Report(wanted.game.id, wanted.matches, wanted.levels, wanted.seconds, found)


async def _of_platform(wanted: Wanted, folder: Path) -> Report:
    """Start everything, load it, stop it; then read the log and measure the parts."""
    cores = Cores.of_machine()
    game = wanted.game
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(platform(game.id, folder, cores))
        echo = await stack.enter_async_context(echo_server(folder, cores))
        output.note(f"{len(wanted.levels)} x {wanted.slices} slices of {wanted.seconds:g} s, an echo before each")
        pids = {"echo": echo.pid, "gateway": fleet.pid("gateway"), "service": fleet.pid(game.id)}
        pages = {name: f"{member.host}:{member.http_port}" for name, member in fleet.members.items()}
        told = wanted.of(target=fleet.gateway_address, echo=echo.address, pids=pids, pages=pages)
        found = await load("actions", told, cores)
    output.note("reading the log")
    file = folder / f"{game.id}.db"
    checked, parts = _read(file, game, found["matches"])
    with placed(cores.client):
        parts["append"] = await _append_us(folder)
    return Report(game.id, wanted.matches, wanted.levels, wanted.seconds, found, checked, parts, filesystem(folder))


def _read(file: Path, game: AnyGame, acknowledged: Mapping[str, int]) -> tuple[Audit, dict[str, Any]]:
    """Check the log, and measure the parts on its longest match."""
    log = read_log(file, list(acknowledged))
    try:
        checked = audit(log, game, acknowledged)
    except (Divergence, Tampered) as fault:
        raise NotMeasured(f"the log does not verify: {fault}") from fault
    longest = max(log, key=lambda match: match.stored.revision)
    return checked, dict(measure_parts(longest, game))


async def _append_us(folder: Path) -> float:
    """Processor microseconds of one append, in groups."""
    async with Appender(folder / "bench-append.db") as appender:
        found = await appender.append(_APPENDING, _APPEND_SECONDS)
    return found.cpu_seconds / max(1, found.entries) * 1e6
