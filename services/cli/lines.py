"""What happened in a match, in lines for people: the games' own text forms, and the kit's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from services.kit.entry import KitStep
from services.kit.rules import Seat
from tortuga.play.v1 import match_pb2, play_pb2

_STATES = {
    match_pb2.MATCH_STATE_GATHERING: "gathering",
    match_pb2.MATCH_STATE_RUNNING: "running",
    match_pb2.MATCH_STATE_ENDED: "ended",
    match_pb2.MATCH_STATE_ABORTED: "aborted",
}


def clock(time_ms: int) -> str:
    """A moment of the day, UTC."""
    return _moment(time_ms).strftime("%H:%M:%S.%f")[:-3]


def date(time_ms: int) -> str:
    """A day, and the moment in it, UTC."""
    return f"{_moment(time_ms):%Y-%m-%d} {clock(time_ms)} UTC"


def who(seat: int | None) -> str:
    """Who acted."""
    return "system" if seat is None else f"seat {seat}"


def printable(text: str) -> str:
    """*text* without anything that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def joined(forms: Iterable[object]) -> str:
    """Text forms, which may have lines, on one line."""
    lines = (line.strip() for form in forms for line in str(form).splitlines())
    return printable("; ".join(line for line in lines if line))


def indented(forms: Iterable[object], by: int) -> list[str]:
    """Text forms as lines of their own."""
    return [" " * by + printable(line) for form in forms for line in str(form).splitlines()]


def kit_line(event: play_pb2.KitEvent) -> str:
    """A kit action that an update shows, in its text form, with who did it in front."""
    seat = Seat(event.seat) if event.HasField("seat") else None
    action = event.action
    step = KitStep(action.kind, seat, action.contribution, action.reason)
    return f"{'' if seat is None else f'{seat} '}{step}"


def status_line(status: match_pb2.Status) -> str:
    """Where a match stands: its state, whom it waits for, how it ended."""
    line = _STATES.get(status.state, "?")
    if status.state == match_pb2.MATCH_STATE_GATHERING and status.away:
        line += f", away {_numbers(status.away)}"
    if status.state == match_pb2.MATCH_STATE_RUNNING and status.asked:
        line += f", asked {_numbers([asked.seat for asked in status.asked])}"
    if status.HasField("outcome"):
        line += f" ({outcome_line(status.outcome)})"
    return line


def outcome_line(outcome: match_pb2.Outcome) -> str:
    """How a match ended: the reason, then the places, best first."""
    ranked = sorted(outcome.places, key=lambda place: (place.rank or len(outcome.places) + 1, place.seat))
    places = [f"{place.rank or '-'}. seat {place.seat} with {place.points}" for place in ranked]
    awards = [f"{award.code} to {_numbers(award.seats)}" for award in outcome.awards]
    return printable(f"{outcome.reason}: {', '.join([*places, *awards])}")


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)


def _numbers(seats: Sequence[int]) -> str:
    return " ".join(map(str, seats))
