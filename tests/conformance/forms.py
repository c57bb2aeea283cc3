"""`text_forms`: every action has one line of text, and bytes, and both read back to it."""

from __future__ import annotations

from typing import Any

from services.kit.entry import KIT_MARK
from services.kit.rules import InvalidAction
from services.kit.step import RUNNING
from tests.conformance.attempts import Attempts
from tests.conformance.ground import Ground

_LONGEST = 1000
"""Characters of a text form: it goes in every entry."""


def text_forms(ground: Ground) -> None:
    """Of all that is played, listed, sampled, and of whatever else the game reads from text or bytes."""
    for line in ground.lines():
        attempts = Attempts(ground.game, line.luck)
        for step in line.play():
            attempts.notice(step)
            state: Any = step.game
            if step.standing.state != RUNNING or not line.look(step):
                continue
            for seat in line.match.table.everyone:
                legal = state.legal(seat)
                actions = [*legal.actions, *legal.templates]
                for action in line.luck.sample(actions, min(40, len(actions))):
                    _reads_back(ground, action)
                if actions:
                    for _ in range(3):
                        _reads_back(ground, state.sample(seat, line.luck))
            for form in attempts.of(step, line.match.table.everyone, 20):
                _reads_or_is_refused(ground, form)


def _reads_back(ground: Ground, action: Any) -> None:
    findings, game = ground.findings, ground.game
    text = str(action)
    plain = bool(text) and text.isprintable() and len(text) <= _LONGEST
    if not findings.expect(plain and not text.startswith(KIT_MARK), "FORM", repr(text)):
        return
    try:
        findings.expect(game.rules.parse(text) == action, "TEXT", f"{text!r} is not {action!r}")
    except InvalidAction:
        findings.add("TEXT", f"{text!r} is refused")
    data = game.wire.write_action(action)
    try:
        findings.expect(game.wire.read_action(data) == action, "BYTES", f"{data.hex()} is not {action!r}")
    except InvalidAction:
        findings.add("BYTES", f"{data.hex()} is refused: {action!r}")


def _reads_or_is_refused(ground: Ground, form: Any) -> None:
    """What the game reads, however odd it was spelt, has a form of its own."""
    if isinstance(form, str | bytes):
        try:
            action = ground.game.rules.parse(form) if isinstance(form, str) else ground.game.wire.read_action(form)
        except InvalidAction:
            return
        except Exception as fault:  # whatever a reader raises besides is what is looked for
            ground.findings.add("READER_RAISED", f"{type(fault).__name__} for {form!r}")
            return
        _reads_back(ground, action)
