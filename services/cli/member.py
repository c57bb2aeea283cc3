"""One process of a fleet: started by exec, watched, started again when it dies, ended by SIGTERM or with its parent."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
GOOD_LIFE = 10.0
"""Seconds after which a process counts as sound, so that its next death waits for the shortest pause again."""

SERVE = (sys.executable, "-m", "services.cli.serve")
"""`tortuga serve` without the other commands, which would double the time to come up; a name follows."""

_LOOK_SECONDS = 0.02
_LAST_WORDS = 400
_ENDING = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class NeverReady(RuntimeError):
    """A process did not come up. Says which, and where its log is."""


def pause_before_restart(deaths: int, luck: random.Random) -> float:
    """Seconds to wait after the *deaths*-th short life in a row: doubling, and jittered between half and whole."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(deaths, 16))
    return luck.uniform(longest / 2, longest)


@dataclass(frozen=True)
class Upkeep:
    """How members are kept up and brought down."""

    restart: bool = True
    """Whether a member that died is started again."""
    drain_seconds: float = 10.0
    """Seconds between SIGTERM and SIGKILL."""
    sound_after: float = GOOD_LIFE
    """Seconds of life after which a death starts the pauses anew."""


@dataclass
class Member:
    """A process named *name* that serves *serves* (`gateway`, or a game's id) on fixed ports."""

    name: str
    serves: str
    host: str
    grpc_port: int
    http_port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    note: Callable[[str], None]
    upkeep: Upkeep = field(default_factory=Upkeep)

    def __post_init__(self) -> None:
        self.restarts = 0
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._doomed: int | None = None
        self._log_start = 0
        self._was_ready = False
        self._luck = random.Random()  # noqa: S311 - jitter, not a secret

    @property
    def address(self) -> str:
        """host:port of its gRPC server."""
        return f"{self.host}:{self.grpc_port}"

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is down."""
        process = self._process
        return None if process is None or process.returncode is not None else process.pid

    async def start(self) -> None:
        """Start the process and keep it up. Returns at once; `wait_ready` waits until it serves."""
        await self._spawn()
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.name}")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the process a signal; nothing happens if it is down. `wait_ready` then waits for the next one."""
        if self._process is not None and self.pid is not None:
            if number in _ENDING:
                self._doomed = self.pid
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def wait_ready(self, seconds: float) -> None:
        """Wait until the process that runs now, or the next one, says that it serves.

        Raises:
            NeverReady: it did not within *seconds*, or died and is not to be started again.
        """
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self._says_ready():
                self._was_ready = True
                return
            if self.pid is None and (self._keeper is None or self._keeper.done()):
                raise NeverReady(f"{self.name} died; {self._last_words()}")
            await asyncio.sleep(_LOOK_SECONDS)
        raise NeverReady(f"{self.name} was not ready after {seconds:g} s; {self._last_words()}")

    async def stop(self) -> None:
        """End the process: SIGTERM, and SIGKILL if it still runs after the drain time. It is not started again."""
        if self._keeper is not None:
            while not self._keeper.done():  # a cancellation can be lost where the process ends at the same moment
                self._keeper.cancel()
                await asyncio.wait((self._keeper,), timeout=1.0)
        if self._process is not None:
            self.kill(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), self.upkeep.drain_seconds)
            except TimeoutError:
                self.note(f"{self.name} did not drain in {self.upkeep.drain_seconds:g} s: killed")
                self.kill(signal.SIGKILL)
                await self._process.wait()

    async def _spawn(self) -> None:
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        descriptor = os.open(self.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.PIPE,  # its end is the parent's: then the process ends too
                stdout=descriptor,
                stderr=descriptor,
                env=os.environ | self.environment | self._own_ports(),
                start_new_session=True,  # Ctrl-C is the parent's affair
            )
        finally:
            os.close(descriptor)

    async def _keep(self) -> None:
        """Start the process again whenever it dies, with growing pauses while it dies young.

        One that gives up by itself before it ever served would do so again: it is let go.
        """
        deaths = 0
        while self._process is not None:
            born = time.monotonic()
            status = await self._process.wait()
            if not self.upkeep.restart or (status > 0 and not self._was_ready):
                return
            deaths = 0 if time.monotonic() - born >= self.upkeep.sound_after else deaths + 1
            pause = pause_before_restart(max(deaths - 1, 0), self._luck)
            self.note(f"{self.name} died ({_cause(status)}); starting again in {pause:.1f} s")
            await asyncio.sleep(pause)
            self.restarts += 1
            await self._spawn()

    def _own_ports(self) -> dict[str, str]:
        return {"TORTUGA_GRPC_PORT": str(self.grpc_port), "TORTUGA_HTTP_PORT": str(self.http_port)}

    def _last_words(self) -> str:
        words = self.log.read_text(encoding="utf-8", errors="replace").rstrip() if self.log.exists() else ""
        return f"its log {self.log} ends: {words[-_LAST_WORDS:]}" if words else f"its log {self.log} is empty"

    def _says_ready(self) -> bool:
        """Whether the log holds the ready line of the process that runs now."""
        pid = self.pid
        if pid is None or pid == self._doomed:
            return False
        with self.log.open("rb") as file:
            file.seek(self._log_start)
            return any(_is_ready(line, pid) for line in file)


def _is_ready(line: bytes, pid: int) -> bool:
    if b'"ready"' not in line or not line.endswith(b"\n"):
        return False
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("event") == "ready" and said.get("pid") == pid


def _cause(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit {status}"
