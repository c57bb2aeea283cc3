"""`silence`: a seat that says nothing, or gives up, never holds a match up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.kit import due
from services.kit.entry import KitStep
from services.kit.rules import RuleError, Seat
from services.kit.step import RUNNING, Step
from tests.conformance.ground import Ground, Line
from tests.conformance.match import next_step
from tortuga.play.v1 import play_pb2


def silence(ground: Ground) -> None:
    """Every asked seat may time out, every seat may give up, at every position; nobody's match lasts for ever."""
    for line in ground.lines():
        for step in line.play():
            if step.standing.state == RUNNING and due.at_once(step) is None:
                for seat, decision in step.asked:
                    _times_out(ground, line, step, seat, decision)
                if line.look(step):
                    for seat in line.match.table.everyone:
                        if seat not in step.standing.resigned:
                            _after(ground, step, "RESIGN", seat, line.match.resign)
        _ends(ground, line, "SILENT_FOR_EVER", lambda step: Seat(step.asked[0].seat))
        _ends_alone(ground, line)


def _times_out(ground: Ground, line: Line, step: Step, seat: Seat, decision: int) -> None:
    """The time-out step is taken, leaves a sound position, and closes the decision: the clock is not for ever."""
    after = _after(ground, step, "TIMEOUT", seat, line.match.silence)
    if after is not None:
        ground.findings.expect((seat, decision) not in after.asked, "TIMEOUT_CLOSES_NOTHING", f"seat {seat}")


def _after(ground: Ground, step: Step, code: str, seat: Seat, take: Callable[[Step, Seat], Step]) -> Step | None:
    """The step after a time-out or a resignation; None if it was refused."""
    state: Any = step.game
    dump = state.dump()
    try:
        after = take(step, seat)
    except RuleError as refusal:
        ground.findings.add(f"{code}_REFUSED", f"seat {seat}: {refusal.reason} {refusal.params}")
        return None
    broken = ground.game.rules.violations(after.game)
    ground.findings.expect(not broken, f"{code}_UNSOUND", f"seat {seat}: {broken}")
    ground.findings.expect(state.dump() == dump, f"{code}_CHANGED", f"seat {seat}")
    goes_on = after.standing.state != RUNNING or bool(after.asked)
    ground.findings.expect(goes_on, f"{code}_ASKS_NOBODY", f"seat {seat}")
    return after


def _ends(ground: Ground, line: Line, code: str, silent: Callable[[Step], Seat]) -> None:
    """A match in which every choice is a time-out is over some day."""
    ground.findings.where = f"{line.name}, everyone silent"
    step = line.match.opening()[-1]
    while step.standing.state == RUNNING:
        if step.revision > ground.effort.longest or not step.asked:
            ground.findings.add(code, f"{step.revision} steps, asked {step.asked}")
            return
        try:
            step = line.match.silence(step, silent(step))
        except RuleError as refusal:
            ground.findings.add("TIMEOUT_REFUSED", f"step {step.revision}: {refusal.reason} {refusal.params}")
            return


def _ends_alone(ground: Ground, line: Line) -> None:
    """Once all but one have given up, at any time, the match is over some day, whatever the last one does."""
    ground.findings.where = f"{line.name}, all but one give up"
    leaving = line.luck.sample(line.match.table.everyone, line.match.table.seats)[1:]
    step = line.match.opening()[-1]
    while step.standing.state == RUNNING:
        if step.revision > ground.effort.longest or not step.asked:
            ground.findings.add("ALONE_FOR_EVER", f"{step.revision} steps, asked {step.asked}")
            return
        try:
            if leaving and due.at_once(step) is None and line.luck.random() < 0.3:
                step = line.match.judge.judge_kit(
                    step, KitStep(play_pb2.KIT_KIND_RESIGN, leaving[0]), leaving.pop(0), f"r{step.revision}", 0
                )
            else:
                step = next_step(line.match, step, line.luck, "sample", 0.0)
        except RuleError as refusal:
            ground.findings.add("PLAY_STOPPED", f"step {step.revision}: {refusal.reason} {refusal.params}")
            return
