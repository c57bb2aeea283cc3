"""`bounds`: random play ends, and no message is too long."""

from __future__ import annotations

from typing import Any

from services.kit.step import RUNNING, Step
from tests.conformance.ground import Ground, Line

MOST_BYTES = 64 * 1024
"""Bytes of one message, as of a client's frame (design §6)."""


def bounds(ground: Ground) -> None:
    """Matches of samples alone, to the end; every viewer's update and whole view along the way."""
    for line in ground.lines():
        last: Step | None = None
        for step in line.play(manner="sample", rare=0.0, most=ground.effort.longest):
            last = step
            if line.look(step) or step.standing.over:
                _messages_fit(ground, line, step)
        if last is not None and last.standing.state == RUNNING and not ground.findings.counts["PLAY_STOPPED"]:
            ground.findings.add("ENDLESS", f"{last.revision} entries")
            return  # one of them is long enough
        if last is not None:
            _is_over(ground, line, last)


def _messages_fit(ground: Ground, line: Line, step: Step) -> None:
    for viewer in line.match.table.viewers:
        sent = line.match.told(step, viewer)
        for what, size in (
            ("UPDATE", sum(map(len, sent or ()))),
            ("WHOLE", len(line.match.whole(step, viewer))),
            ("ENTRY", len(step.data)),
        ):
            ground.findings.expect(size <= MOST_BYTES, f"{what}_TOO_LONG", f"{size} bytes for viewer {viewer}")


def _is_over(ground: Ground, line: Line, last: Step) -> None:
    """At the end every seat has its place, nobody is asked and nothing is legal."""
    state: Any = last.game
    outcome = state.outcome()
    if outcome is None:
        return
    everyone = line.match.table.everyone
    ground.findings.expect([place.seat for place in outcome.places] == everyone, "PLACES", outcome)
    asked = [*state.asked(), *state.asked_publicly()]
    ground.findings.expect(not asked, "ASKED_AFTER_THE_END", asked)
    legal = [seat for seat in everyone if state.legal(seat)]
    ground.findings.expect(not legal, "LEGAL_AFTER_THE_END", legal)
