"""Logs: JSON on stderr, one line an event, with the ids that `bind` put in context. stdlib's loggers come out the same.

What a log line may hold is ids, codes and counts. The arguments of an exception may hold a live match's state, and so
may local values, so a traceback is written as types and places and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeAlias

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
"""Levels by the names that the setting uses."""

_FRAMES = 40
"""Innermost frames that a line holds at most."""

_WORDS = re.compile(r"[A-Za-z ]*")

Described: TypeAlias = dict[str, Any]


def configure(level: str, service: str) -> None:
    """Send structlog's and stdlib's lines to stderr from *level* on, each naming *service* (a game's id, `gateway`)."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _ServiceName(service),
        _exception_without_arguments,
    ]
    render = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared[:-1], _logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _exception_without_arguments,
                render,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(LEVELS[level], logging.WARNING) if level != "debug" else logging.INFO)


def logger(**ids: object) -> FilteringBoundLogger:
    """A logger whose lines all carry *ids*."""
    bound: FilteringBoundLogger = structlog.get_logger(**ids)
    return bound


def announce(event: str, **facts: object) -> None:
    """Write a line whatever the level is: for those that other processes wait for."""
    say = structlog.wrap_logger(structlog.WriteLogger(sys.stderr), wrapper_class=structlog.BoundLogger)
    say.info(event, **facts)


@contextmanager
def bind(**ids: object) -> Iterator[None]:
    """Add *ids* (request_id, match_id …) to every line written in this context, tasks started in it included."""
    with structlog.contextvars.bound_contextvars(**ids):
        yield


def describe(error: BaseException) -> Described:
    """*error* as types and places: no message, no arguments, no local values; causes and group members inside."""
    return _describe(error, set())


def _describe(error: BaseException, seen: set[int]) -> Described:
    seen.add(id(error))
    kind = type(error)
    described: Described = {"type": f"{kind.__module__}.{kind.__qualname__}", "frames": _frames(error.__traceback__)}
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        described["after"] = _describe(earlier, seen)
    if isinstance(error, BaseExceptionGroup):
        described["members"] = [_describe(member, seen) for member in error.exceptions if id(member) not in seen]
    return described


def _frames(traceback: TracebackType | None) -> list[str]:
    places: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"{code.co_filename}:{traceback.tb_lineno} {code.co_qualname}")
        traceback = traceback.tb_next
    return places[-_FRAMES:]


def unhandled_in_loop(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """An asyncio exception handler that writes what the default one writes, without the exception's arguments."""
    error = context.get("exception")
    described = describe(error) if isinstance(error, BaseException) else None
    # asyncio's texts begin in words; what follows them are reprs of callbacks, their arguments, tasks and futures.
    words = _WORDS.match(str(context.get("message", "")))
    logger().error("unhandled_in_loop", what=words and words[0].strip(), exception=described)


class _ServiceName:
    """Adds the process's service to each line."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event.setdefault("service", self._service)
        return event


def _exception_without_arguments(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    given = event.pop("exc_info", None)
    event.pop("stack_info", None)
    if given is True:
        given = sys.exc_info()
    error = given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event["exception"] = describe(error)
    return event


def _logger_name(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    if isinstance(record, logging.LogRecord):
        event["logger"] = record.name
        # The formatter's own exception text would hold the arguments; keep the information, drop the text.
        record.exc_text = None
    return event
