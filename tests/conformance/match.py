"""Matches as the platform runs them: judged by the kit's judge, told by its teller, with the system's own entries.

Nothing here is a second implementation: what a check sees is what a player would be sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from services.kit import chain, due
from services.kit.chance import Chance
from services.kit.entry import KIT_MARK, KitStep, parse_kit
from services.kit.judge import Judge
from services.kit.rules import Seat, Viewer
from services.kit.step import RUNNING, StatusLine, Step
from services.kit.telling import Teller
from tests.conformance.table import Table
from tortuga.play.v1 import match_pb2, play_pb2

MANNERS = ("sample", "sample", "first", "early", "late")
"""How a match is played: by samples, or leaning on one end of what is legal, which reaches long and rare courses."""

_CREATED_MS = 1_000_000
_NO_HEAD = bytes(32)


class Match:
    """One match's fixed part and secrets, all made from *seed*. Positions are steps; every method leaves them alone."""

    def __init__(self, table: Table, seed: str) -> None:
        self.table = table
        self.game = table.game
        self.seed = hashlib.sha256(f"seed {seed}".encode()).digest()
        fixed = match_pb2.Match(
            match_id="m1",
            game=table.game.id,
            rules_version=table.game.rules.versions[0],
            options=table.options,
            seats=[match_pb2.Seat(player_id=f"player{seat}") for seat in table.everyone],
            created_ms=_CREATED_MS,
            commitment=chain.commitment("m1", self.seed),
        )
        self.judge = Judge(table.game, fixed, self.seed, hashlib.sha256(f"blind {seed}".encode()).digest())
        self.teller = Teller(table.game, fixed, self.seed)

    def opening(self) -> list[Step]:
        """The steps from the first entry to `begin`: every seat contributes nothing."""
        steps = [self.judge.before_first()]
        for seat in self.table.everyone:
            steps.append(self._kit(steps[-1], KitStep(play_pb2.KIT_KIND_CONTRIBUTE, seat), seat, f"contribute:{seat}"))
        steps.append(self._kit(steps[-1], KitStep(play_pb2.KIT_KIND_BEGIN), None, "begin"))
        return steps[1:]

    def act(self, last: Step, seat: Seat, action: Any) -> Step:
        """The step after a game action.

        Raises:
            IllegalAction: the rules' reason.
        """
        return self.judge.judge_action(last, seat, action, f"a{last.revision + 1}", last.entry.time_ms + 10)

    def silence(self, last: Step, seat: Seat) -> Step:
        """The step after *seat*'s clock ran out."""
        action_id = f"timeout:{seat}:{last.decision(seat)}"
        return self._kit(last, KitStep(play_pb2.KIT_KIND_TIMEOUT, seat), None, action_id)

    def resign(self, last: Step, seat: Seat) -> Step:
        """The step after *seat* gave up."""
        return self._kit(last, KitStep(play_pb2.KIT_KIND_RESIGN, seat), seat, f"a{last.revision + 1}")

    def system(self, last: Step, owed: due.SystemAction) -> Step:
        """The step after what the system owed."""
        return self._kit(last, owed.kit, None, owed.action_id)

    def told(self, step: Step, viewer: Viewer) -> tuple[bytes, bytes] | None:
        """What *viewer* is sent of *step*: public and own bytes, without the exempt head; None if nothing is sent."""
        if not step.shows(0 if viewer is None else viewer + 1):
            return None
        blank = replace(step, head=_NO_HEAD, public=None)
        return self.teller.public(blank), self.teller.own(blank, viewer)

    def whole(self, step: Step, viewer: Viewer) -> bytes:
        """What *viewer* is sent who attaches after *step*, without the exempt head."""
        return self.teller.whole(replace(step, head=_NO_HEAD, public=None), viewer)

    def shuffles(self, last: Step, step: Step) -> bool:
        """Whether something was shuffled between *last* and *step*."""
        if not step.entry.addresses:
            return False
        chance = _ShuffleSeen(last.standing.key, last.spent)
        state: Any = last.game
        state = state.copy()
        text, seat = step.entry.text, step.entry.seat
        if not text.startswith(KIT_MARK):
            state.apply(seat, self.game.rules.parse(text), chance)
        else:
            kit = parse_kit(text, seat)
            (state.resigned if kit.kind == play_pb2.KIT_KIND_RESIGN else state.timeout)(kit.seat, chance)
        return chance.shuffled

    def _kit(self, last: Step, kit: KitStep, actor: Seat | None, action_id: str) -> Step:
        return self.judge.judge_kit(last, kit, actor, action_id, last.entry.time_ms + 10)


class _ShuffleSeen(Chance):
    """Draws as always, and notes that it was a shuffle."""

    shuffled = False

    def shuffle(self, purpose: str, *numbers: int, of: int) -> list[int]:
        self.shuffled = True
        return super().shuffle(purpose, *numbers, of=of)


def elsewhere(step: Step, state: Any) -> Step:
    """*step*, had the position been *state*: what the platform keeps beside the game is the same."""
    status = StatusLine(step.status.state, tuple(state.asked_publicly()), step.status.away)
    return replace(step, game=state, asked=tuple(state.asked()), status=status, events=(), public=None)


def play(match: Match, luck: Random, *, manner: str = "", rare: float = 0.03, most: int = 400) -> Iterator[Step]:
    """`begin`, and then every step of a random match until it is over, or *most* steps were made.

    With the chance *rare* a seat is silent instead of acting, and eight times more rarely one gives up.

    Raises:
        RuleError: a sample or an entry of `legal` was refused.
    """
    manner = manner or luck.choice(MANNERS)
    step = match.opening()[-1]
    yield step
    for _ in range(most):
        if step.standing.state != RUNNING:
            return
        step = next_step(match, step, luck, manner, rare)
        yield step


def next_step(match: Match, step: Step, luck: Random, manner: str, rare: float) -> Step:
    """What comes next: what the system owes, or what a random seat does."""
    if (owed := due.at_once(step)) is not None:
        return match.system(step, owed)
    chance = luck.random()
    asked = [seat for seat, _ in step.asked]
    if chance < rare / 8:
        return match.resign(step, luck.choice([s for s in match.table.everyone if s not in step.standing.resigned]))
    if chance < rare:
        return match.silence(step, luck.choice(asked))
    seat = luck.choice(asked if luck.random() < 0.9 else able(match, step))
    return match.act(step, seat, choose(step.game, seat, luck, manner))


def able(match: Match, step: Step) -> list[Seat]:
    """Seats that may do something, asked or not."""
    state: Any = step.game
    return [s for s in match.table.everyone if s not in step.standing.resigned and state.legal(s)]


def choose(state: Any, seat: Seat, luck: Random, manner: str = "sample") -> Any:
    """An action of *seat*, which has one: a sample, or (four times in five) by *manner*."""
    actions = state.legal(seat).actions
    if manner == "sample" or not actions or luck.random() < 0.2:
        return state.sample(seat, luck)
    half = (len(actions) + 1) // 2
    if manner == "first":
        return actions[0]
    return luck.choice(actions[:half] if manner == "early" else actions[-half:])
