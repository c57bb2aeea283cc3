"""`decisions`: a decision is one choice: numbered by seat from 1, without gaps, and closed by its answer."""

from __future__ import annotations

from typing import Any

from services.kit.entry import KIT_MARK
from services.kit.rules import Seat
from services.kit.step import RUNNING, Step
from tests.conformance.ground import Ground, Line


def decisions(ground: Ground) -> None:
    """At every step of random matches."""
    for line in ground.lines():
        highest: dict[Seat, int] = {}
        last: Step | None = None
        for step in line.play():
            if step.standing.state == RUNNING:
                _asks_in_order(ground, line, step)
                if last is not None:
                    _closes(ground, last, step)
            for seat, decision in step.asked:
                still_open = last is not None and last.decision(seat) == decision
                follows = decision == highest.get(seat, 0) + 1
                about = f"seat {seat} is asked {decision} after {highest.get(seat, 0)}"
                ground.findings.expect(still_open or follows, "COUNT", about)
                highest[seat] = max(decision, highest.get(seat, 0))
            last = step


def _asks_in_order(ground: Ground, line: Line, step: Step) -> None:
    """Seats ascending, each once, each with something to do; everyone else has decision 0."""
    state: Any = step.game
    expect, everyone = ground.findings.expect, line.match.table.everyone
    seats = [seat for seat, _ in state.asked()]
    publicly = list(state.asked_publicly())
    expect(bool(seats), "NOBODY_ASKED")
    for asked in (seats, publicly):
        expect(asked == sorted(set(asked)) and set(asked) <= set(everyone), "ORDER", asked)
    for seat in seats:
        expect(bool(state.legal(seat)), "NOTHING_LEGAL", f"seat {seat}")
    for seat in everyone:
        expect((step.decision(seat) > 0) == (seat in seats), "NUMBER", f"seat {seat} has {step.decision(seat)}")


def _closes(ground: Ground, last: Step, step: Step) -> None:
    """An answer closes its decision, unless the very same choice may still be changed (design §4)."""
    entry = step.entry
    if entry.seat is None or entry.text.startswith(KIT_MARK):
        return
    before: Any = last.game
    after: Any = step.game
    seat, decision = entry.seat, last.decision(entry.seat)
    if before.unasked(seat, ground.game.rules.parse(entry.text)):
        return
    if not ground.findings.expect(decision > 0, "NOT_ASKED", f"seat {seat} did {entry.text}"):
        return
    if step.decision(seat) == decision:
        offered, still = ({str(action) for part in state.legal(seat) for action in part} for state in (before, after))
        ground.findings.expect(still <= offered, "STAYS_OPEN", f"seat {seat}, decision {decision}, {entry.text}")
