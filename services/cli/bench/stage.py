"""What a benchmark stands on: the platform on its core, the echo beside it, and the load in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from services.cli import output
from services.cli.bench.conversation import NothingReady
from services.cli.bench.cores import Cores, placed
from services.cli.fleet import Fleet, PortsTaken
from services.cli.member import Member, NeverReady, Upkeep
from services.cli.ports import free_ports
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game

T = TypeVar("T")

_HOST = "127.0.0.1"
_ECHO = (sys.executable, "-m", "services.cli.bench.echo")
_LOAD = (sys.executable, "-m", "services.cli.bench.load")
_READY_SECONDS = 30.0
_INTERRUPTED = 130

# A process that dies is not started again: its figures would be another's.
_UPKEEP = Upkeep(restart=False)


class LoadFailed(RuntimeError):
    """The process that makes the load gave up; it has said why on stderr."""


class NotMeasured(RuntimeError):
    """What came out is no measurement; says why."""


def measured(work: Coroutine[Any, Any, T]) -> T:
    """The result of *work*; ends the command in words if it could not be done."""
    try:
        return asyncio.run(work)
    except (NeverReady, PortsTaken, LoadFailed, NotMeasured, NothingReady, OSError) as error:
        output.fail(str(error))
    except KeyboardInterrupt:
        output.fail("interrupted", _INTERRUPTED)


def chosen_game(game: str) -> AnyGame:
    """The installed game of this id; ends the command with 2 if there is none."""
    try:
        return load_game(game)
    except UnknownGame:
        output.fail(f"there is no game {game}; there are: {', '.join(installed_games()) or 'none'}", 2)


@contextmanager
def data_folder(data: Path | None) -> Iterator[Path]:
    """*data*, kept; or a temporary folder, removed afterwards."""
    if data is not None:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="tortuga-bench-") as temporary:
        yield Path(temporary)


@asynccontextmanager
async def platform(game: str, data: Path, cores: Cores) -> AsyncIterator[Fleet]:
    """A gateway and the service of *game*, both on the server's core; this process moves to the load's."""
    fleet = Fleet(data, [game], note=output.note, upkeep=_UPKEEP)
    with placed(cores.server):
        await fleet.start()
    try:
        with placed(cores.client):
            yield fleet
    finally:
        await fleet.stop()


@asynccontextmanager
async def echo_server(data: Path, cores: Cores) -> AsyncIterator[Member]:
    """The echo on the server's core."""
    (port,) = free_ports(_HOST, 1)
    logs = data / "logs"
    logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    member = Member(
        name="echo",
        serves="echo",
        host=_HOST,
        grpc_port=port,
        http_port=0,
        command=_ECHO,
        environment={"TORTUGA_DATA": str(data), "TORTUGA_HOST": _HOST},
        log=logs / "echo.log",
        note=output.note,
        upkeep=_UPKEEP,
    )
    with placed(cores.server):
        await member.start()
    try:
        await member.wait_ready(_READY_SECONDS)
        yield member
    finally:
        await member.stop()


async def load(kind: str, wanted: Mapping[str, object], cores: Cores) -> dict[str, Any]:
    """Run the load *kind* in a process of its own on its core, and return what it measured.

    Raises:
        LoadFailed: it ended without a result.
    """
    with placed(cores.client):
        process = await asyncio.create_subprocess_exec(
            *(*_LOAD, kind, json.dumps(wanted)),
            stdin=asyncio.subprocess.PIPE,  # its end is ours: then the load ends too
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is this process's affair
        )
    try:
        assert process.stdout is not None  # noqa: S101 - for mypy: a pipe was asked for
        said = await process.stdout.read()
        status = await process.wait()
    except BaseException:
        process.send_signal(signal.SIGKILL)
        raise
    if status or not said.strip():
        raise LoadFailed(f"the load {kind} ended with status {status}")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found
