"""A worker process as the bots' process holds it: started by exec, asked one question at a time, killed at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress

from services.bots import frames

_CHILD = "services.bots.child"

_WITHOUT_CHANCE = {"PYTHONHASHSEED": "0"}
"""The order of a set of texts is the same in every worker: same position and seed, same answer."""


class Lost(Exception):
    """The worker died, or was killed, before it answered."""


class Worker:
    """One worker process. `start` makes it; whoever does that awaits `ended` in the end."""

    def __init__(
        self, process: asyncio.subprocess.Process, questions: asyncio.StreamWriter, answers: asyncio.StreamReader
    ) -> None:
        self._process = process
        self._questions = questions
        self._answers = answers

    @classmethod
    async def start(cls, log_level: str) -> Worker:
        """Start a process with a new interpreter, in a session of its own: Ctrl-C is the bots' process's affair.

        It finds the packages that this process finds, and writes its log where this one does.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            _CHILD,
            log_level,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **_WITHOUT_CHANCE, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without the pipes that were asked for")
        return cls(process, process.stdin, process.stdout)

    @property
    def pid(self) -> int:
        """Its process id, also that of its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it is not known to have ended."""
        return self._process.returncode is None

    async def ready(self) -> None:
        """Wait until it has loaded all games.

        Raises:
            Lost: it ended before.
        """
        if await self._read() != frames.READY:
            raise Lost

    async def answer(self, left_seconds: float, request: bytes) -> bytes:
        """The answer to *request*, for which there are *left_seconds*. Who is cancelled here kills the worker.

        Raises:
            Lost: it ended before.
        """
        self._questions.write(frames.framed(frames.question(left_seconds, request)))
        return await self._read()

    def kill(self) -> None:
        """End it now, with all that it may have started."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    async def ended(self) -> int:
        """Wait for its end; the exit status, negative for a signal."""
        return await self._process.wait()

    async def _read(self) -> bytes:
        try:
            (length,) = frames.LENGTH.unpack(await self._answers.readexactly(frames.LENGTH.size))
            return await self._answers.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Lost from None
