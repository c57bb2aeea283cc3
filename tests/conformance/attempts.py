"""What a player might send: legal, stale, another's, misspelt, broken bytes. Most of it has to be refused."""

from __future__ import annotations

import re
from random import Random
from typing import Any, TypeAlias

from services.kit.entry import KIT_MARK
from services.kit.game import AnyGame
from services.kit.rules import InvalidAction, Seat
from services.kit.step import Step

_REMEMBERED = 64
"""Actions kept to be tried again where they are not legal."""

_ODD = [
    *" \t\n\x00,;=-+@_.0019",
    "\u0663",
    "\u00b2",
    "\u00a0",
    "\u202e",
    "\uff11",
    "\u00df",
    "-1",
    "00",
    "1e3",
    "999999999999999999999",
]
"""What is put into texts: separators, signs, digits that `int` takes and a text form must not."""

_NUMBER = re.compile(r"\d+")

Form: TypeAlias = Any | str | bytes
"""An action, or a text or bytes that may be one."""


class Attempts:
    """Makes attempts from the actions of the match so far and from what is legal now."""

    def __init__(self, game: AnyGame, luck: Random) -> None:
        self._game = game
        self._luck = luck
        self._remembered: list[Any] = []

    def notice(self, step: Step) -> None:
        """Remember the action of *step*, to be tried again later."""
        if not step.entry.text.startswith(KIT_MARK):
            kept, action = self._remembered, self._game.rules.parse(step.entry.text)
            if len(kept) < _REMEMBERED:
                kept.append(action)
            else:
                kept[self._luck.randrange(_REMEMBERED)] = action

    def of(self, step: Step, seats: list[Seat], count: int) -> list[Form]:
        """*count* attempts at *step*, each of another kind as far as the kinds go."""
        state: Any = step.game
        legal = {seat: state.legal(seat) for seat in seats}
        actions = [action for listed in legal.values() for action in (*listed.actions, *listed.templates)]
        known = [*actions, *self._remembered]
        made: list[Form] = []
        for turn in range(count):
            kind = turn % 5
            if kind == 0 and known:
                made.append(self._luck.choice(known))
            elif kind == 1 and self._remembered:
                made.append(self._luck.choice(self._remembered))
            elif kind == 2 and known:
                made.append(self.misspelt(str(self._luck.choice(known)), str(self._luck.choice(known))))
            elif kind == 3 and known:
                first, second = (self._game.wire.write_action(self._luck.choice(known)) for _ in range(2))
                made.append(self.damaged(first, second))
            else:
                made.append(self._noise())
        return made

    def misspelt(self, text: str, other: str) -> str:
        """*text* with one thing changed, or a piece of *other* in it."""
        luck = self._luck
        pieces = re.split(r"(\W+)", text)
        piece = luck.randrange(len(pieces))
        place = luck.randrange(len(text) + 1)
        before, after = text[:place], text[place:]
        return luck.choice(
            (
                "".join([*pieces[:piece], luck.choice(re.split(r"(\W+)", other)), *pieces[piece + 1 :]]),
                "".join([*pieces[:piece], *pieces[piece + 1 :]]),
                before + after[1:],
                before + after[:1] * 2 + after[1:],
                before + luck.choice(_ODD) + after,
                text + luck.choice(_ODD) + other,
                text.swapcase(),
                _NUMBER.sub(lambda found: str(int(found[0]) + luck.choice((-1, 1, 100, 10**30))), text, count=1),
            )
        )

    def damaged(self, data: bytes, other: bytes) -> bytes:
        """*data* with one thing changed, or a piece of *other* in it."""
        luck = self._luck
        place = luck.randrange(len(data) + 1)
        before, after = data[:place], data[place:]
        return luck.choice(
            (
                before + bytes([byte ^ 1 << luck.randrange(8) for byte in after[:1]]) + after[1:],
                before,
                before + after[1:],
                before + luck.randbytes(luck.randint(1, 3)) + after,
                before + other[luck.randrange(len(other) + 1) :],
                data + other,
                data + b"\xf8\x06\x01",  # field 111, which no action has
            )
        )

    def _noise(self) -> str | bytes:
        luck = self._luck
        if luck.random() < 0.5:
            return luck.randbytes(luck.randrange(24))
        return "".join(luck.choice([*_ODD, *"abcdefgh"]) for _ in range(luck.randrange(12)))


def read(game: AnyGame, form: Form) -> Any:
    """The action that *form* is.

    Raises:
        InvalidAction: it is none.
    """
    if isinstance(form, str):
        return game.rules.parse(form)
    return game.wire.read_action(form) if isinstance(form, bytes) else form


def readable(game: AnyGame, forms: list[Form]) -> list[Any]:
    """The actions among *forms*."""
    actions = []
    for form in forms:
        try:
            actions.append(read(game, form))
        except InvalidAction:
            continue
    return actions
