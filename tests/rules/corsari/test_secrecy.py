"""Non-interference: what a viewer receives does not depend on what it may not know (design §1, promise 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.actions import DRAWS, PARTITION_AUTO, PLAIN, Action, Source
from services.corsari.cards import NONE, without
from services.corsari.events import Event, Sailed, Scored
from services.corsari.options import Options
from services.corsari.phases import Phase
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.corsari.wire import WIRE
from services.kit.chance import Chance
from services.kit.rules import IllegalAction, Seat, Viewer
from tests.rules.corsari.driver import any_options, new_match, seats_of, seeds, steps, viewers_of
from tests.rules.corsari.test_random_play import wild_action

UPDATES = 20
"""How far two positions that look alike are played on."""


def told(state: Position, events: Sequence[Event], viewer: Viewer) -> list[object]:
    """All that a step sends to *viewer*: bytes, its own decision, and who is publicly asked."""
    parts: list[object] = [WIRE.public_events(events), WIRE.public_view(state), state.asked_publicly(), state.outcome()]
    if viewer is not None:
        parts += [WIRE.own_events(events, viewer), WIRE.own_view(state, viewer), WIRE.legal(state, viewer)]
        parts += [dict(state.asked()).get(viewer, 0)]
    return parts


def answer(state: Position, seat: Seat, action: Action, key: bytes) -> tuple[str, dict[str, str]]:
    """What *seat* hears of its own action if it is refused; nothing if it is accepted."""
    try:
        state.copy().apply(seat, action, Chance(key))
    except IllegalAction as refusal:
        return refusal.reason, refusal.params
    return "", {}


def positions(seed: int, seats: int, options: Options, waits: float, every: int) -> Sequence[Position]:
    """Some positions of a random match, with a few of the last."""
    match = new_match(seed, seats, options)
    found = [match.state]
    for number, _ in enumerate(steps(match, Random(seed), waits)):
        if number % every == 0 or match.state.phase is Phase.PARTITION:
            found.append(match.state)
    return [*found[:6], *found[-6:]]


@settings(max_examples=40, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), st.sampled_from([0, 0.7, 1]))
def test_positions_that_look_alike_are_answered_alike(seed: int, seats: int, options: Options, waits: float) -> None:
    """Views, legal actions, refusals with their parameters: equal bytes before and after a redeal, for every viewer."""
    luck = Random(seed)
    for state in positions(seed, seats, options, waits, every=5):
        before = state.dump()
        for viewer in viewers_of(state):
            other = RULES.redeal(state, viewer, luck)
            assert RULES.violations(other) == []
            assert told(other, (), viewer) == told(state, (), viewer)
            for _ in range(6 if viewer is not None else 0):
                action = wild_action(state, luck)
                refused = answer(state, Seat(viewer or 0), action, state.fingerprint())
                assert answer(other, Seat(viewer or 0), action, state.fingerprint()) == refused
        assert state.dump() == before


@settings(max_examples=40, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), st.sampled_from([0.7, 1]))
def test_equal_public_play_tells_equal_updates(seed: int, seats: int, options: Options, waits: float) -> None:
    """From positions that look alike, the next updates under equal public play are equal, one by one."""
    luck = Random(seed)
    for state in positions(seed, seats, options, waits, every=9):
        for viewer in viewers_of(state):
            play_alike(state, RULES.redeal(state, viewer, luck), viewer, luck)


def test_most_continuations_are_long() -> None:
    """The suite above sees what it says: from most positions all twenty updates are reached, new deals included."""
    lengths, deals = [], 0
    for seed in range(12):
        luck = Random(seed)
        match = new_match(seed, 2 + seed % 3, Options(stall_limit=8))
        for viewer in viewers_of(match.state):
            other = RULES.redeal(match.state, viewer, luck)
            count, hands = play_alike(match.state, other, viewer, luck, only_public=True)
            lengths.append(count)
            deals += hands
    assert sorted(lengths)[len(lengths) // 3] == UPDATES
    assert deals > 0


def play_alike(
    first: Position, second: Position, viewer: Viewer, luck: Random, only_public: bool = False
) -> tuple[int, int]:
    """Play both on as long as the viewer may not see a difference; return the updates seen and the hands dealt.

    Play is equal in public: hidden actions (splits) may differ. Where every next step would show the viewer something
    that he did not know (his card from the stock, a hand laid down), the comparison ends.
    """
    key, spent, hand_number = first.fingerprint(), set[str](), first.hand_number
    for count in range(UPDATES):
        for seat, one, two in pairs_of_actions(first, second, viewer, luck, only_public):
            after, other = first.copy(), second.copy()
            chance, chance_too = Chance(key, spent), Chance(key, spent)
            events, events_too = after.apply(seat, one, chance), other.apply(seat, two, chance_too)
            if revealed(after, other, events, events_too, viewer):
                continue
            assert told(other, events_too, viewer) == told(after, events, viewer)
            assert chance.used == chance_too.used
            spent.update(chance.used)
            first, second = after, other
            break
        else:
            return count, first.hand_number - hand_number
    return UPDATES, first.hand_number - hand_number


def revealed(
    after: Position, other: Position, events: Sequence[Event], others: Sequence[Event], viewer: Viewer
) -> bool:
    """Whether the step lawfully showed what differs: the viewer's own card from the stock, hands laid down, splits."""
    for event, counterpart in zip(events, others, strict=True):
        laid_down = isinstance(event, Sailed) and event.split.seat != viewer
        if (laid_down or (isinstance(event, Scored) and event.splits)) and event != counterpart:
            return True
    drew_himself = after.drew is Source.STOCK and after.turn == viewer
    return drew_himself and after.drawn != other.drawn


Pair: TypeAlias = tuple[Seat, Action, Action]
"""A seat's step: its action in the one position, and the one that looks the same in the other."""


def pairs_of_actions(
    first: Position, second: Position, viewer: Viewer, luck: Random, only_public: bool
) -> Iterator[Pair]:
    """Steps that look the same to everyone, in random order."""
    if not first.asked():
        return
    seat = luck.choice(first.asked()).seat
    if first.phase is Phase.DRAW:
        for draw in [DRAWS[1]] if only_public else luck.sample(DRAWS, len(DRAWS)):
            yield seat, draw, draw
        return
    if seat == viewer and not only_public:
        action = first.sample(seat, luck)
        yield seat, action, action
    if first.phase is Phase.PARTITION:
        yield seat, first.sample(seat, luck), first.sample(seat, luck) if seat == viewer else second.sample(seat, luck)
        return
    here, there = first.allowed_discards(), second.allowed_discards()
    both = [card for card in here if card in there]
    for card in luck.sample(both, len(both)) if first.stock else []:
        yield seat, PLAIN[card], PLAIN[card]


def test_redeal_varies_every_hidden_field() -> None:
    """Each hidden card may be in each hidden place; nothing public or own ever changes."""
    luck = Random(5)
    match = new_match(21, 3)
    match.act(match.state.turn, DRAWS[2])
    match.act(match.state.turn, PLAIN[match.state.hands[match.state.turn][3]])
    match.act(match.state.turn, DRAWS[0])
    state = match.state
    for viewer in viewers_of(state):
        others = [RULES.redeal(state, viewer, luck) for _ in range(2000)]
        hidden = {seat: without(state.hands[seat], state.known[seat]) for seat in seats_of(state) if seat != viewer}
        pool = set(NONE.join((*hidden.values(), state.stock)))
        for seat in hidden:
            assert {card for other in others for card in without(other.hands[seat], state.known[seat])} == pool
        for place in (0, len(state.stock) // 2, -1):
            assert {other.stock[place] for other in others} == pool
        drawn = {other.drawn for other in others}
        assert drawn == ({state.drawn} if viewer == state.turn else pool)
        for other in others:
            assert told(other, (), viewer) == told(state, (), viewer)
            assert other.decisions == state.decisions


def test_redeal_varies_undisclosed_splits() -> None:
    """A split that is laid face down is chosen anew for the new hand, automatic or not; one's own stays."""
    luck = Random(6)
    match = new_match(22, 4)
    match.act(match.state.turn, DRAWS[0])
    match.act(match.state.turn, RULES.parse(f"{PLAIN[match.state.hands[match.state.turn][0]]} sail auto"))
    first, second, _ = (seat for seat, _ in match.state.asked())
    match.act(first, PARTITION_AUTO)
    match.act(second, PARTITION_AUTO)
    state = match.state
    for viewer in viewers_of(state):
        others = [RULES.redeal(state, viewer, luck) for _ in range(50)]
        for seat in (first, second):
            splits = {other.declared[seat] for other in others}
            assert (len(splits) == 1) is (seat == viewer)
            assert None not in splits
            assert len({split.attached for split in splits if split} | {NONE}) > 1 or seat == viewer
        assert {other.closer for other in others} == {state.closer}
        assert all(RULES.violations(other) == [] for other in others)


def test_a_view_is_the_spectators_and_more() -> None:
    """Design §4: the public bytes are the same for all, and a seat's own bytes follow them."""
    match = new_match(23, 3)
    for _ in steps(match, Random(23), 0.7):
        spectator = match.state.view(None)
        assert (spectator.hand, spectator.drawn, spectator.split) == (NONE, None, None)
        for seat in seats_of(match.state):
            own = match.state.view(seat)
            assert WIRE.public_view(match.state).startswith(b"\x0a")
            assert own.hand == match.state.hands[seat]
