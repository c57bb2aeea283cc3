"""A worker process: `python -m services.bots.child LOG_LEVEL`. Questions come by standard input, one after the other.

It never outlives the process that started it, whatever a bot is doing: a thread of its own waits for the end of
standard input; and for a bot that does not even let threads run, the system's alarm ends the process, which is set for
each question a little later than the starter would have killed it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from queue import SimpleQueue
from typing import BinaryIO

from services.bots import frames
from services.bots.thinking import Shelf, suggestions
from services.kit.errors import DomainError
from services.kit.rules import RuleError
from services.kit.shell import logs

_MOST_MEMORY = 2 << 30
"""Bytes of address space: an absurd position fails in its worker and leaves the machine alone."""

_ALARM_SECONDS = 1.0
"""How long after its budget a bot is ended that nobody has killed."""


def main(log_level: str) -> None:
    """Answer questions until standard input ends."""
    logs.configure(log_level, "bots")
    _limit()
    questions, answers = _take_pipes()
    waiting: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions, waiting), name="questions", daemon=True).start()
    shelf = Shelf()
    shelf.fill()
    _send(answers, frames.READY)
    while True:
        _send(answers, _answered(shelf, waiting.get()))


def _answered(shelf: Shelf, question: bytes) -> bytes:
    """The answer to *question*."""
    started = time.monotonic()
    budget_ms, request = frames.read_question(question)
    signal.setitimer(signal.ITIMER_REAL, budget_ms / 1000 + _ALARM_SECONDS)  # SIGALRM's own way: the process ends
    try:
        advised = suggestions(shelf, request, lambda: budget_ms - (time.monotonic() - started) * 1000)
        return frames.advice(advised)
    except (DomainError, RuleError) as error:
        return frames.refusal(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit() -> None:
    """Bounded memory, and no core file, in which a seat's secrets would stand."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MOST_MEMORY if hard == resource.RLIM_INFINITY else min(_MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for our own use. Whatever a bot reads is empty, and what it prints goes to the log."""
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _send(answers: BinaryIO, content: bytes) -> None:
    answers.write(frames.framed(content))
    answers.flush()


def _listen(questions: BinaryIO, waiting: SimpleQueue[bytes]) -> None:
    while (question := frames.read_frame(questions)) is not None:
        waiting.put(question)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
