"""Every kind of check passes a right game, counts what it did, and bites when the game is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from services.cli.checks import KINDS
from services.cli.simulate import MOST_ACTIONS, Found, Run, play
from services.kit.chance import Chance
from services.kit.game import AnyGame
from services.kit.rules import Asked, IllegalAction, Legal, Seat, Viewer
from tests.simulate.parrots import BIRDS, Aviary, ParrotRules, ParrotWire, Play, Played, View, parrots


def found_in(game: AnyGame, seats: int = 3, matches: int = 10) -> Found:
    """What a checked run of *game* finds."""
    return play(Run(game, game.wire.read_options(b""), "", seats, matches, 7, check=True))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_right_game_breaks_no_promise(seats: int) -> None:
    """No violation, every kind looked at after every action, for every viewer."""
    found = found_in(parrots(), seats)
    assert found.violations == []
    assert found.actions == 10 * BIRDS
    assert found.outcomes == {"finished": 10}
    assert set(found.checks) == set(KINDS)
    assert found.checks["view"] == found.actions * (seats + 1)
    assert all(found.checks[kind] >= found.actions for kind in KINDS)


class LosesABird(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        events = super().apply(seat, action, chance)
        self.stock = self.stock[1:]
        return events


class AsksNobody(Aviary):
    def asked(self) -> Sequence[Asked]:
        return super().asked() if len(self.table) < 5 else []


class AsksWhoCannot(Aviary):
    def asked(self) -> Sequence[Asked]:
        return [*super().asked(), Asked(Seat(2), 1)] if self.turn == 0 else super().asked()

    def sample(self, seat: Seat, luck: Random) -> Play:
        return super().sample(self.turn, luck)


class SharesItsTable(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        before = self.table
        events = super().apply(seat, action, chance)
        before.append(action.bird)
        return events


class TouchesBeforeItRefuses(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if seat != self.turn:
            self.table.reverse()
        return super().apply(seat, action, chance)


class PlaysOutOfTurn(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        turn, self.turn = self.turn, seat
        events = super().apply(seat, action, chance)
        self.turn = self.turn if turn == seat else turn
        return events


class PlaysBirdsOfNobody(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if seat == self.turn and action.bird in self.table:
            return []
        return super().apply(seat, action, chance)


class RefusesInProse(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if seat != self.turn:
            raise IllegalAction("It is not your turn.")
        return super().apply(seat, action, chance)


class RaisesWhatItLikes(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if seat == self.turn and action.bird not in self.hands[seat]:
            raise KeyError(action.bird)
        return super().apply(seat, action, chance)


class RefusesTheLegal(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if len(self.table) == 6 and action.bird == max(self.hands[self.turn]):
            raise IllegalAction("TOO_LOUD")
        return super().apply(seat, action, chance)

    def sample(self, seat: Seat, luck: Random) -> Play:
        return self.legal(seat).actions[0]


class ShowsTheStock(Aviary):
    def view(self, viewer: Viewer) -> View:
        return replace(super().view(viewer), stock=sum(self.stock))


class RefusesByTheStock(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if action.bird in self.stock:
            raise IllegalAction("NOT_IN_HAND", bird=action.bird, where="stock")
        return super().apply(seat, action, chance)


class HidesTheDrawn(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        return [event.public() or event for event in super().apply(seat, action, chance)]


class FindsItsActionsInTheStock(Aviary):
    def legal(self, seat: Seat) -> Legal[Play]:
        actions = super().legal(seat).actions
        return Legal(actions[::-1] if self.stock[:1] < (6,) else actions)


class ForgetsTheTurn(ParrotRules):
    def load(self, data: bytes) -> Aviary:
        state = super().load(data)
        state.turn = Seat(0)
        return state


class ReadsOneDigit(ParrotRules):
    def parse(self, text: str) -> Play:
        return super().parse(text[:6])


class StumblesOverText(ParrotRules):
    def parse(self, text: str) -> Play:
        return Play(int(text.removeprefix("play ")))


class RedealsTheViewersHand(ParrotRules):
    def redeal(self, state: Aviary, viewer: Viewer, luck: Random) -> Aviary:
        return super().redeal(state, None, luck)


class RedealsInPlace(ParrotRules):
    def redeal(self, state: Aviary, viewer: Viewer, luck: Random) -> Aviary:
        state.hands = super().redeal(state, viewer, luck).hands
        return state


class TellsTheStock(ParrotWire):
    def own_view(self, state: Aviary, seat: Seat) -> bytes:
        return super().own_view(state, seat) + bytes(state.stock[:1])


@pytest.mark.parametrize(
    ("kind", "code", "game"),
    [
        ("invariants", "BIRDS", ParrotRules(LosesABird)),
        ("invariants", "NOBODY_ASKED", ParrotRules(AsksNobody)),
        ("invariants", "NOTHING_LEGAL", ParrotRules(AsksWhoCannot)),
        ("text", "READS_BACK", ReadsOneDigit()),
        ("text", "ValueError", StumblesOverText()),
        ("dump", "READS_BACK", ForgetsTheTurn()),
        ("dump", "COPY_SHARES", ParrotRules(SharesItsTable)),
        ("view", "FOLLOW", ParrotRules(LosesABird)),
        ("view", "FOLLOW", ParrotRules(HidesTheDrawn)),
        ("refusal", "BYTES_CHANGED", ParrotRules(TouchesBeforeItRefuses)),
        ("refusal", "ACCEPTED", ParrotRules(PlaysOutOfTurn)),
        ("refusal", "ACCEPTED", ParrotRules(PlaysBirdsOfNobody)),
        ("refusal", "REASON", ParrotRules(RefusesInProse)),
        ("refusal", "KeyError", ParrotRules(RaisesWhatItLikes)),
        ("refusal", "LEGAL_REFUSED", ParrotRules(RefusesTheLegal)),
        ("redeal", "VIEW", RedealsTheViewersHand()),
        ("redeal", "BYTES_CHANGED", RedealsInPlace()),
        ("redeal", "BYTES", ParrotRules(ShowsTheStock)),
        ("redeal", "BYTES", ParrotRules(FindsItsActionsInTheStock)),
        ("redeal", "ANSWER", ParrotRules(RefusesByTheStock)),
        ("redeal", "BYTES", TellsTheStock()),
    ],
)
def test_a_broken_promise_is_a_violation(kind: str, code: str, game: Any) -> None:
    """A game with one fault is caught by the check that is meant for it."""
    found = found_in(parrots(wire=game) if isinstance(game, ParrotWire) else parrots(game), matches=40)
    assert (kind, code) in {(violation.kind, violation.code) for violation in found.violations}


class NeverEnds(Aviary):
    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        self.turn = Seat(1 - seat)
        return []


class SamplesTheIllegal(Aviary):
    def sample(self, seat: Seat, luck: Random) -> Play:
        return Play(luck.randrange(BIRDS))


class Crashes(Aviary):
    def copy(self) -> Aviary:  # type: ignore[override]  # it never returns
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("code", "position"),
    [
        ("ENDLESS", NeverEnds),
        ("NOBODY_ASKED", AsksNobody),
        ("NOT_IN_HAND", SamplesTheIllegal),
        ("ZeroDivisionError", Crashes),
    ],
)
def test_a_match_that_cannot_go_on_is_a_violation(code: str, position: type[Aviary]) -> None:
    """Also without checks: a match that never ends, asks nobody, samples what is illegal, or raises."""
    found = play(Run(parrots(ParrotRules(position)), 0, "", 2, 1, 7, check=False))
    assert [(violation.kind, violation.code, violation.match) for violation in found.violations] == [("play", code, 1)]
    assert found.trace
    assert found.actions <= MOST_ACTIONS
    assert not found.outcomes


def test_a_check_that_raises_has_found_something() -> None:
    """An exception inside a check is a violation of its kind, and the run goes on."""

    class Blind(Aviary):
        def view(self, viewer: Viewer) -> View:
            if viewer is not None and len(self.table) == 4:
                raise IndexError
            return super().view(viewer)

    found = found_in(parrots(ParrotRules(Blind)), matches=1)
    assert {("view", "IndexError"), ("dump", "IndexError")} <= {(each.kind, each.code) for each in found.violations}
    assert "IndexError" in found.trace
    assert found.actions == BIRDS


def test_the_same_seed_finds_the_same() -> None:
    """Matches, checks and violations depend on the seed alone."""
    first, again = (found_in(parrots(ParrotRules(LosesABird))) for _ in range(2))
    assert first.violations == again.violations
    assert first.checks == again.checks
