"""What strace wrote down about a process, as far as durability is concerned.

How an action is followed: its id is a marker that stands as plain ASCII in everything that is about it. It comes in by
a read from a socket, goes to the write-ahead log by a write of the page that holds its entry, and goes out in the
acknowledgement by a write to a socket. strace stops a thread before and after each call, so its lines stand in the
order in which things happened: data that was read is in the line in which the call came back (the one that is whole, or
the `resumed` one), data that is written in the line in which the call began (whole, or `unfinished`).

Durable before acknowledged then means that these lines stand in this order:

    read(socket) → … marker …        the frame has come
    pwrite64(….db-wal, … marker …    the entry goes to the log file
    fdatasync(….db-wal) …            begins after that write
    … = 0                            and has succeeded
    sendmsg(socket, … marker …       only now does the answer leave
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

READS = ("read", "readv", "recvfrom", "recvmsg")
WRITES = ("write", "writev", "sendto", "sendmsg")
LOG_WRITES = ("pwrite64", "pwritev")
SYNCS = ("fsync", "fdatasync")
TRACED = ",".join((*READS, *WRITES, *LOG_WRITES, *SYNCS))
"""The calls to trace; with `-f -y -s` large enough for whole messages."""

_WHOLE = re.compile(r"(?P<pid>\d+) +(?P<call>\w+)\((?P<fd>\d+<[^>]*>)?(?P<rest>.*)")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)")
_LONGEST_MARKER = 64
_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Event(NamedTuple):
    """One call's beginning or end."""

    line: int
    thread: str
    call: str
    fd: str
    """Number and what it is, `12</data/corsari.db-wal>`."""
    text: str
    """The data of the line, the parts of a vector joined; as strace escapes it.

    In front of what went over a socket stands the end of what went before it: a message may be cut in two.
    """
    begins: bool
    ends: bool
    good: bool
    """It has ended, and without an error."""


def parse(lines: Iterable[str]) -> list[Event]:
    """The events of a trace in their order; lines about anything else are left out."""
    begun: dict[str, str] = {}
    before: dict[tuple[str, bool], str] = {}
    events = []
    for number, line in enumerate(lines):
        if found := _RESUMED.match(line):
            fd, begins, ends = begun.pop(found["pid"], ""), False, True
        elif found := _WHOLE.match(line):
            fd, begins, ends = found["fd"] or "", True, "<unfinished ...>" not in line
            begun[found["pid"]] = fd
        else:
            continue
        rest = found["rest"]
        result = rest.rpartition(" = ")[2]
        text = "".join(_STRINGS.findall(rest))
        if text and "socket" in fd:
            stream = (fd, found["call"] in READS)
            text = before.get(stream, "") + text
            before[stream] = text[-_LONGEST_MARKER:]
        good = ends and not result.startswith(("-", "?"))
        events.append(Event(number, found["pid"], found["call"], fd, text, begins, ends, good))
    return events


def explain(events: Sequence[Event], marker: str) -> str:
    """Why the action that *marker* names was not durable before it was acknowledged; empty if it was."""
    came = _first(events, READS, marker, "socket", begins=False)
    left = _first(events, WRITES, marker, "socket", begins=True)
    logged = _first(events, LOG_WRITES, marker, "-wal>", begins=True)
    if came is None or left is None:
        return "it was never read, or never answered"
    if logged is None or not came.line < logged.line < left.line:
        return "its entry did not go to the log between the frame and the answer"
    synced = _first_sync(events, logged)
    if synced is None or synced > left.line:
        return "no sync of the log came to its end between its entry and the answer"
    return ""


def in_flight(events: Sequence[Event], markers: Sequence[str]) -> int:
    """Most of the actions that were under way at a time: read, and not answered yet."""
    moves = []
    for marker in markers:
        came = _first(events, READS, marker, "socket", begins=False)
        left = _first(events, WRITES, marker, "socket", begins=True)
        if came is not None and left is not None:
            moves += [(came.line, 1), (left.line, -1)]
    most = now = 0
    for _, step in sorted(moves):
        now += step
        most = max(most, now)
    return most


def _first(events: Sequence[Event], calls: Sequence[str], marker: str, fd: str, begins: bool) -> Event | None:
    for event in events:
        seen = event.begins if begins else event.ends
        if seen and event.call in calls and fd in event.fd and marker in event.text:
            return event
    return None


def _first_sync(events: Sequence[Event], logged: Event) -> int | None:
    """The line in which the first good sync of the file ends that began after the write *logged* to it."""
    begun: set[str] = set()
    for event in events:
        if event.line > logged.line and event.call in SYNCS and event.fd == logged.fd:
            if event.begins:
                begun.add(event.thread)
            if event.good and event.thread in begun:
                return event.line
    return None
