"""A watch over the clock and over chance that has no address: who asks for either is noted."""

from __future__ import annotations

import datetime
import os
import random
import secrets
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_CLOCK = {
    time: (
        "time",
        "time_ns",
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "process_time",
        "localtime",
        "gmtime",
    ),
}
_CHANCE = {
    random: (
        "random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "getrandbits",
        "randbytes", "gauss", "seed", "Random", "SystemRandom",
    ),
    os: ("urandom", "getrandom"),
    secrets: ("choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe"),
    uuid: ("uuid1", "uuid4"),
}  # fmt: skip


class Watch:
    """What was asked for while the watch ran."""

    def __init__(self) -> None:
        self.clock: list[str] = []
        self.chance: list[str] = []


@contextmanager
def watched() -> Iterator[Watch]:
    """Note every use of the wall clock and of unaddressed chance by this thread, also through names imported before.

    What is asked for still answers, so that the rules go on; modules of the standard library keep theirs.
    """
    watch, thread = Watch(), threading.get_ident()
    spies: dict[int, Any] = {}
    for table, noted in ((_CLOCK, watch.clock), (_CHANCE, watch.chance)):
        for module, names in table.items():
            for name in names:
                if (original := getattr(module, name, None)) is not None:
                    spies[id(original)] = _spy(original, f"{module.__name__}.{name}", noted, thread)
    spies[id(datetime.datetime)] = _dated(watch.clock, thread)
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for module in _modules():
            for name, value in list(vars(module).items()):
                if id(value) in spies:
                    replaced.append((module, name, value))
                    setattr(module, name, spies[id(value)])
        yield watch
    finally:
        for module, name, value in replaced:
            setattr(module, name, value)


def _modules() -> list[Any]:
    """The modules asked for, and all that are not of the standard library."""
    watching = {*_CLOCK, *_CHANCE, datetime}
    ours = [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in sys.stdlib_module_names and name != __name__ and hasattr(module, "__dict__")
    ]
    return [*watching, *ours]


def _spy(original: Callable[..., Any], name: str, noted: list[str], thread: int) -> Callable[..., Any]:
    def spy(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() == thread:
            noted.append(name)
        return original(*args, **kwargs)

    return spy


def _dated(noted: list[str], thread: int) -> type[datetime.datetime]:
    class Dated(datetime.datetime):
        """Notes who asks for now."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            if threading.get_ident() == thread:
                noted.append("datetime.now")
            return super().now(tz)

        @classmethod
        def utcnow(cls) -> Any:
            if threading.get_ident() == thread:
                noted.append("datetime.utcnow")
            return super().now()

        @classmethod
        def today(cls) -> Any:
            if threading.get_ident() == thread:
                noted.append("datetime.today")
            return super().today()

    return Dated
