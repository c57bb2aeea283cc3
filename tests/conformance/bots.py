"""`bots`: a game's bots know no more than their seat, repeat themselves, and play what is legal.

They are asked as the bots' process asks them: over the bytes that the seat would be sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan
from random import Random
from typing import Any

from services.bots.thinking import sight
from services.kit.bot import Advice, AnyBot
from services.kit.game import AnyGame
from services.kit.rules import IllegalAction, Seat
from services.kit.step import RUNNING, Step
from tests.conformance.ground import Ground, Line
from tests.conformance.match import able
from tortuga.bots.v1.bot_service_pb2 import Position

_LEVEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_REASON = re.compile(r"([A-Z][A-Z0-9_]{0,63})?")

_SELDOM = 1 / 3
"""Part of the positions that other checks look at: a bot takes longer than a comparison."""

_TRIED = 5
"""Pieces of advice, best first, that are played to see whether they are legal."""

_LEFT_MS = 1000.0
"""What a bot is told of the time that is left."""


def bots(ground: Ground) -> None:
    """Every level at random positions, and over redeals of them."""
    game, expect = ground.game, ground.findings.expect
    offered, described = list(game.bots()), list(game.description.bots)
    if not expect(offered == described, "LEVELS", f"offers {offered}, describes {described}") or not offered:
        return
    for level in offered:
        expect(_LEVEL.fullmatch(level) is not None, "LEVEL", level)
    for line in ground.lines():
        for step in line.play():
            looked_at = step.shows_view() or line.luck.random() < _SELDOM * ground.effort.look
            if step.standing.state != RUNNING or not looked_at:
                continue
            seats = able(line.match, step)
            asked = [seat for seat, _ in step.asked if seat in seats]
            for seat in {line.luck.choice(asked or seats), line.luck.choice(seats)} if seats else ():
                for level in offered:
                    _Questions(ground, line, step, seat, level).ask()


def position(game: AnyGame, line: Line, state: Any, seat: Seat) -> Position:
    """What a game service sends of *state* for *seat*: its whole update, with what is legal."""
    wire = game.wire
    return Position(
        game=game.id,
        rules_version=game.rules.versions[0],
        options=line.match.table.options,
        seat=seat,
        update=wire.public_view(state) + wire.own_view(state, seat) + wire.legal(state, seat),
    )


class _Questions:
    """One bot at one seat of one position."""

    def __init__(self, ground: Ground, line: Line, step: Step, seat: Seat, level: str) -> None:
        self._ground, self._game, self._line = ground, ground.game, line
        self._expect = ground.findings.expect
        self._step, self._seat, self._level = step, seat, level
        self._state: Any = step.game
        self._bot = self._game.bots()[level]
        self._luck = f"{line.luck.random()}"
        self._who = f"{level} at seat {seat}"

    def ask(self) -> None:
        """Look at one advice, then ask again, and over positions that look alike."""
        advised = self._advice(self._bot, self._state)
        if not self._expect(bool(advised), "SILENT", self._who):
            return
        self._is_well_formed(advised)
        self._is_legal(advised)
        said = _told(advised)
        again = _told(self._advice(self._game.bots()[self._level], self._state))
        self._expect(said == again, "REPEATS", f"{self._who}: {said} and then {again}")
        for _ in range(self._ground.effort.redeals):
            other = self._game.rules.redeal(self._step.game, self._seat, self._line.luck)
            elsewhere = _told(self._advice(self._bot, other))
            self._expect(said == elsewhere, "BLIND", f"{self._who}: {said} or {elsewhere}")

    def _advice(self, bot: AnyBot, state: Any) -> Sequence[Advice[Any]]:
        seen: Any = sight(self._game, position(self._game, self._line, state, self._seat))
        return bot.advise(seen, Random(self._luck), lambda: _LEFT_MS)

    def _is_well_formed(self, advised: Sequence[Advice[Any]]) -> None:
        """Numbers in falling order, reasons that are codes, actions that pass over the wire."""
        worths = [each.worth for each in advised]
        falls = not any(map(isnan, worths)) and worths == sorted(worths, reverse=True)
        self._expect(falls, "ORDER", f"{self._who}: {worths}")
        for action, _, reason in advised:
            self._expect(_REASON.fullmatch(reason) is not None, "REASON", f"{self._who}: {reason!r}")
            read = self._game.wire.read_action(self._game.wire.write_action(action))
            self._expect(str(read) == str(action), "BYTES", f"{self._who}: {action} reads back as {read}")

    def _is_legal(self, advised: Sequence[Advice[Any]]) -> None:
        """The best are accepted; the very best, if the seat is asked, answers its decision."""
        for action, _, _ in advised[:_TRIED]:
            try:
                self._line.match.act(self._step, self._seat, action)
                refused = ""
            except IllegalAction as refusal:
                refused = refusal.reason
            self._expect(not refused, "ILLEGAL", f"{self._who}: {action} is refused: {refused}")
        if self._step.decision(self._seat):
            best = advised[0].action
            self._expect(not self._state.unasked(self._seat, best), "ANSWERS_NOTHING", f"{self._who}: {best}")


def _told(advised: Sequence[Advice[Any]]) -> list[tuple[str, float, str]]:
    return [(str(action), worth, reason) for action, worth, reason in advised]
