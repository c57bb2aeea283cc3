"""`legality`: what is listed or sampled applies; all else is refused by a code, and nothing remembers the attempt."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from google.protobuf.message import Message

from services.kit.chance import NoChance
from services.kit.entry import KIT_MARK, parse_kit
from services.kit.rules import IllegalAction, InvalidAction, Legal, RuleError, Seat
from services.kit.step import RUNNING, Step
from tests.conformance.attempts import Attempts, Form, read
from tests.conformance.ground import Ground, Line
from tests.conformance.refusals import refusal_faults
from tests.conformance.table import every_table, random_tables

_LISTED = 30
"""Entries of `legal` tried at a position; where there are more, some by luck."""

_TRIED = 10
"""Attempts of each seat at a position."""


def legality(ground: Ground) -> None:
    """For every number of seats and variant, and for random options.

    Whoever is accepted was offered it: the action is listed, or fills one of the seat's templates.
    """
    random = random_tables(ground.game, 3 * ground.effort.tables, ground.luck, ground.findings)
    for line in ground.lines([*every_table(ground.game), *random]):
        attempts = Attempts(ground.game, line.luck)
        steps = [line.match.opening()[-1]]
        for step in line.play():
            attempts.notice(step)
            steps.append(step)
            if line.look(step):
                _Trial(ground, line, step, attempts).run()
        _leave_no_trace(ground, line, steps[1:], attempts)


class _Trial:
    """All attempts at one position."""

    def __init__(self, ground: Ground, line: Line, step: Step, attempts: Attempts) -> None:
        self._game = ground.game
        self._match = line.match
        self._luck = line.luck
        self._expect = ground.findings.expect
        self._add = ground.findings.add
        self._step = step
        state: Any = step.game
        self._state = state
        self._dump: bytes = state.dump()
        self._attempts = attempts

    def run(self) -> None:
        everyone = self._match.table.everyone
        for seat in everyone:
            listed = list(self._state.legal(seat).actions)
            for action in self._luck.sample(listed, min(_LISTED, len(listed))):
                refusal = self._try(seat, action)
                self._expect(refusal is None, "LEGAL_REFUSED", f"seat {seat}, {action}: {refusal}")
        if self._step.standing.state == RUNNING:
            for seat, _ in self._step.asked:
                refusal = self._try(seat, sampled := self._state.sample(seat, self._luck))
                self._expect(refusal is None, "SAMPLE_REFUSED", f"seat {seat}, {sampled}: {refusal}")
        for seat in everyone if len(everyone) < 5 else self._luck.sample(everyone, 4):
            for form in self._attempts.of(self._step, everyone, _TRIED):
                self._attempt(seat, form)

    def _attempt(self, seat: Seat, form: Form) -> None:
        try:
            action = read(self._game, form)
        except InvalidAction as refusal:
            self._judge_refusal(refusal, form)
            return
        except Exception as fault:  # whatever the reader raises besides is what is looked for
            self._add("READER_RAISED", f"{type(fault).__name__} for {form!r}")
            return
        if self._try(seat, action) is None:
            legal = self._state.legal(seat)
            self._expect(offered(self._game, legal, action), "ACCEPTED", f"seat {seat}, {action}")

    def _try(self, seat: Seat, action: Any) -> RuleError | None:
        """The refusal of *action*, or None. Either way the position's bytes are what they were."""
        refusal: RuleError | None = None
        state = self._state.copy()
        try:
            if self._step.standing.state == RUNNING:
                after: Any = self._match.act(self._step, seat, action).game
                if broken := self._game.rules.violations(after):
                    self._add("UNSOUND", f"seat {seat}, {action}: {broken}")
            else:  # the platform asks no more, but the rules know it themselves
                state.apply(seat, action, NoChance())
        except IllegalAction as reason:
            refusal = reason
            self._judge_refusal(reason, action)
        except Exception as fault:  # whatever the rules raise besides is what is looked for
            self._add("RULES_RAISED", f"{type(fault).__name__} for seat {seat}, {action}")
            refusal = RuleError("RAISED")
        self._expect(self._state.dump() == self._dump, "CHANGED", f"seat {seat}, {action}")
        return refusal

    def _judge_refusal(self, refusal: RuleError, form: Form) -> None:
        for fault in refusal_faults(refusal):
            self._add("REFUSAL", f"{fault} for {form!r}")


def offered(game: Any, legal: Legal[Any], action: Any) -> bool:
    """Whether *action* is listed, or fills a template."""
    if action in legal.actions:
        return True
    kind = game.message("Action")
    sent = kind.FromString(game.wire.write_action(action))
    return any(_fills(kind.FromString(game.wire.write_action(template)), sent) for template in legal.templates)


def _fills(template: Message, action: Message) -> bool:
    """Whether *action* has all that *template* has; what is empty there is free."""
    for field, value in template.ListFields():
        if field.is_repeated or field.message_type is None:
            if getattr(action, field.name) != value:
                return False
        elif not action.HasField(field.name) or not _fills(value, getattr(action, field.name)):
            return False
    return True


def _leave_no_trace(ground: Ground, line: Line, steps: list[Step], attempts: Attempts) -> None:
    """The same match once more, with refused attempts between its steps, comes out the same."""
    match = line.match
    last = match.opening()[-1]
    for step in steps[1:]:
        if last.standing.state != RUNNING:
            break
        for seat in line.luck.sample(match.table.everyone, min(2, match.table.seats)):
            for form in attempts.of(last, [seat], 4):
                _provoke(line, last, seat, form)
        entry = step.entry
        try:
            if not entry.text.startswith(KIT_MARK) and entry.seat is not None:
                last = match.act(last, entry.seat, ground.game.rules.parse(entry.text))
            else:
                kit = parse_kit(entry.text, entry.seat)
                last = match.judge.judge_kit(last, kit, entry.seat, entry.action_id, entry.time_ms)
        except RuleError as refusal:
            ground.findings.add("TRACE", f"{entry.text} is refused after attempts: {refusal.reason}")
            return
        if not ground.findings.expect(_print(last) == _print(step), "TRACE", f"after {entry.text}"):
            return


def _provoke(line: Line, last: Step, seat: Seat, form: Form) -> None:
    with suppress(Exception):  # what they raise is reported elsewhere; here it may only leave nothing behind
        line.match.act(last, seat, read(line.match.game, form))


def _print(step: Step) -> tuple[Any, ...]:
    state: Any = step.game
    return state.dump(), step.entry.addresses, step.seqs
