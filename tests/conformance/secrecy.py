"""`non_interference`: what a viewer receives is the same whatever it is not entitled to know (design §1.3).

Three questions. *Now*: a redealt position gives the viewer the same bytes and the same answers. *Later*: the true and
the redealt position are played on by the same actions (or by others with which the viewer sees the same position), and
tell it the same updates. *Choices*: two actions of one seat that leave another viewer the same view, and different
positions, tell that viewer the same.

What the rules reveal ends a comparison: as long as the viewer's views are equal, it has been told nothing. Two cases
are exempt from that: a shuffle, and the end, wipe out what was shown just before, so that views may be equal again.
"""

from __future__ import annotations

from typing import Any

from services.kit import due
from services.kit.rules import IllegalAction, Seat, Viewer
from services.kit.step import RUNNING, Step
from tests.conformance.attempts import Attempts, readable
from tests.conformance.ground import Ground, Line
from tests.conformance.match import able, choose, elsewhere
from tests.conformance.refusals import told_of

_AHEAD = 20
"""Updates compared after a redeal."""

_TRIES = 10
"""Actions tried for one that tells both worlds' viewer the same view, before a comparison ends."""

_ATTEMPTS = 15
"""Actions, legal or not, that a viewer tries in both worlds."""

_PAIRS = 3
"""Pairs of choices compared at a position."""


def non_interference(ground: Ground) -> None:
    """For every viewer, the spectator among them."""
    for line in ground.lines():
        attempts = Attempts(ground.game, line.luck)
        comparison = _Comparison(ground, line)
        for step in line.play():
            attempts.notice(step)
            if step.standing.state != RUNNING or not line.look(step):
                continue
            for viewer in line.viewers():
                for number in range(ground.effort.redeals):
                    other = elsewhere(step, ground.game.rules.redeal(step.game, viewer, line.luck))
                    if comparison.same_now(step, other, viewer):
                        if viewer is not None:
                            actions = readable(ground.game, attempts.of(step, [viewer], _ATTEMPTS))
                            comparison.same_answers(step, other, viewer, actions)
                        if number == 0:
                            comparison.same_later(step, other, viewer)
            for _ in range(_PAIRS):
                comparison.same_choice(step)


class _Comparison:
    """Compares worlds of one match."""

    def __init__(self, ground: Ground, line: Line) -> None:
        self._game = ground.game
        self._match = line.match
        self._luck = line.luck
        self._expect = ground.findings.expect

    def same_now(self, one: Step, other: Step, viewer: Viewer) -> bool:
        """Everything that *viewer* is sent who attaches now; first the parts, so that the finding says which."""
        wire = self._game.wire
        ours: Any = one.game
        theirs: Any = other.game
        who = f"viewer {viewer}"
        same = self._expect(ours.view(viewer) == theirs.view(viewer), "VIEW", who)
        same &= self._expect(wire.public_view(ours) == wire.public_view(theirs), "VIEW", f"{who}, public bytes")
        same &= self._expect(one.status == other.status, "ASKED", f"{one.status.asked} or {other.status.asked}")
        same &= self._expect(ours.outcome() == theirs.outcome(), "OUTCOME", who)
        if viewer is not None:
            own = wire.own_view(ours, viewer), wire.own_view(theirs, viewer)
            same &= self._expect(own[0] == own[1], "VIEW", f"{who}, own bytes")
            same &= self._expect(one.decision(viewer) == other.decision(viewer), "DECISION", who)
            same &= self._same_legal(ours, theirs, viewer)
        return same and self._expect(self._match.whole(one, viewer) == self._match.whole(other, viewer), "MESSAGE", who)

    def same_answers(self, one: Step, other: Step, viewer: Seat, actions: list[Any]) -> None:
        """Whatever *viewer* tries is accepted in both worlds, or refused with the same code and parameters."""
        for action in actions:
            answers = [_answer(self._try(step, viewer, action)) for step in (one, other)]
            self._expect(answers[0] == answers[1], "REFUSAL", f"seat {viewer}, {action}: {answers[0]} or {answers[1]}")

    def same_later(self, one: Step, other: Step, viewer: Viewer) -> None:
        """The updates that follow, as long as nothing is revealed to *viewer*."""
        for _ in range(_AHEAD):
            pair = self._next(one, other, viewer)
            if pair is None:
                return
            if not self._same_told(one, pair, viewer, "UPDATE"):
                return
            one, other = pair
            if one.standing.state != RUNNING or other.standing.state != RUNNING:
                return

    def same_choice(self, step: Step) -> None:
        """Two actions of one seat, which others cannot tell apart by their views, are told them alike."""
        seats = able(self._match, step)
        if not seats:
            return  # who is asked has given up: the system acts
        seat = self._luck.choice(seats)
        actions = [choose(step.game, seat, self._luck, self._luck.choice(("sample", "early", "late"))) for _ in "ab"]
        if str(actions[0]) == str(actions[1]):
            return
        afters = [self._try(step, seat, action) for action in actions]
        if not isinstance(afters[0], Step) or not isinstance(afters[1], Step):
            return  # `legality` reports it
        for viewer in self._match.table.viewers:
            if viewer != seat and _view(afters[0], viewer) == _view(afters[1], viewer):
                self._same_told(step, (afters[0], afters[1]), viewer, "CHOICE")

    def _same_told(self, before: Step, pair: tuple[Step, Step], viewer: Viewer, code: str) -> bool:
        """Equal views, but other positions: then the updates have to be equal. False ends a comparison."""
        one, other = pair
        ours: Any = one.game
        theirs: Any = other.game
        ended = any(step.standing.state != RUNNING for step in pair)
        told = [self._match.told(step, viewer) for step in pair]
        if told[0] != told[1] and (ended or ours.dump() == theirs.dump() or self._match.shuffles(before, one)):
            return False
        what = f"viewer {viewer}: {one.entry.text} or {other.entry.text}: {_hex(told[0])} or {_hex(told[1])}"
        return self._expect(told[0] == told[1], code, what) and (ended or self.same_now(one, other, viewer))

    def _next(self, one: Step, other: Step, viewer: Viewer) -> tuple[Step, Step] | None:
        """A step of both worlds after which *viewer* has the same view, if luck finds one."""
        owed = due.at_once(one), due.at_once(other)
        if owed[0] is not None or owed[1] is not None:
            if not self._expect(owed[0] == owed[1], "TRIGGER", f"viewer {viewer}: {owed[0]} or {owed[1]}"):
                return None
            pair = tuple(self._match.system(step, todo) for step, todo in zip((one, other), owed, strict=True) if todo)
            return (pair[0], pair[1]) if _view(pair[0], viewer) == _view(pair[1], viewer) else None
        for _ in range(_TRIES):
            seat = self._luck.choice(one.asked).seat if self._luck.random() < 0.9 else None
            seat = self._luck.choice(able(self._match, one)) if seat is None else seat
            action = choose(one.game, seat, self._luck, self._luck.choice(("sample", "early", "late")))
            ours = self._try(one, seat, action)
            if not isinstance(ours, Step):
                continue  # `legality` reports it
            theirs = self._like(ours, other, seat, action, viewer)
            if theirs is not None:
                return ours, theirs
        return None

    def _like(self, ours: Step, other: Step, seat: Seat, action: Any, viewer: Viewer) -> Step | None:
        """The other world's step by *action*, or by another that looks the same to *viewer*; None if it looks new."""
        theirs = self._try(other, seat, action)
        if isinstance(theirs, Step):
            return theirs if _view(theirs, viewer) == _view(ours, viewer) else None
        if seat == viewer:
            self._expect(False, "REFUSAL", f"seat {seat}, {action}: accepted or {told_of(theirs)}")
            return None
        state: Any = other.game
        if state.legal(seat):
            for _ in range(_TRIES // 2):
                theirs = self._try(other, seat, choose(other.game, seat, self._luck))
                if isinstance(theirs, Step) and _view(theirs, viewer) == _view(ours, viewer):
                    return theirs
        return None

    def _same_legal(self, ours: Any, theirs: Any, seat: Seat) -> bool:
        wire = self._game.wire
        same = wire.legal(ours, seat) == wire.legal(theirs, seat)
        legal = [[list(map(str, part)) for part in state.legal(seat)] for state in (ours, theirs)]
        return self._expect(same and legal[0] == legal[1], "LEGAL", f"seat {seat}: {legal[0]} or {legal[1]}")

    def _try(self, step: Step, seat: Seat, action: Any) -> Step | IllegalAction:
        try:
            return self._match.act(step, seat, action)
        except IllegalAction as refusal:
            return refusal


def _answer(tried: Step | IllegalAction) -> tuple[str, ...]:
    return ("accepted",) if isinstance(tried, Step) else told_of(tried)


def _view(step: Step, viewer: Viewer) -> Any:
    state: Any = step.game
    return state.view(viewer)


def _hex(told: tuple[bytes, bytes] | None) -> str:
    return "nothing" if told is None else f"public {told[0].hex()} own {told[1].hex()}"
