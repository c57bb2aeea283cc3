"""Events and the first view give the server's view, for every viewer: in light types and on the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.events import Event, HandVoided, Resigned, Scored
from services.corsari.options import STANDARD, FinalTie, Options
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.corsari.turns import play
from services.corsari.wire import WIRE
from services.kit.rules import Legal, Viewer, shown
from tests.rules.corsari.driver import Match, any_options, new_match, seeds, steps, viewers_of
from tests.rules.corsari.toy import action_of, toy
from tortuga.corsari.v1 import corsari_pb2 as pb

PINK_AND_ORANGE = "pk1 pk2 pk3 pk4 pk5 pk6 or7 or8 or9 or10 or11 bl9"
VIOLET_AND_GREY = "vi1 vi2 vi3 vi4 vi5 vi6 gy7 gy8 gy9 gy10 gy11 bl10"
CLOSER_CAPPOTTO = ["0:discard(card=ye11, sail=True)"]
OPPONENT_CAPPOTTO = [
    "0:discard(card=ye11, sail=True, crew=[gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 br3])",
    "2:partition(auto=True)",
    "1:partition(auto=True)",
]


def update_bytes(state: Position, events: Sequence[Event], viewer: Viewer) -> bytes:
    """A whole update of *viewer*: the public bytes, then the own ones."""
    public = WIRE.public_events(events) + WIRE.public_view(state)
    if viewer is None:
        return public
    return public + WIRE.own_events(events, viewer) + WIRE.legal(state, viewer) + WIRE.own_view(state, viewer)


def check_update(match: Match, viewer: Viewer) -> None:
    """What comes over the wire is what the viewer is shown, his view, and what he may do."""
    update = pb.Update.FromString(update_bytes(match.state, match.events, viewer))
    assert WIRE.read_events(update) == shown(match.events, viewer)
    assert WIRE.read_view(update, viewer) == match.state.view(viewer)
    legal = Legal(()) if viewer is None else match.state.legal(viewer)
    assert WIRE.read_legal(update) == Legal(list(legal.actions), list(legal.templates))


@settings(max_examples=50, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), st.sampled_from([0, 0.5, 0.9]))
def test_events_and_the_first_view_give_every_view(seed: int, seats: int, options: Options, waits: float) -> None:
    """`follow` gives `view` after every step, and the wire carries both."""
    match = new_match(seed, seats, options)
    views = {viewer: match.state.view(viewer) for viewer in viewers_of(match.state)}
    for events in steps(match, Random(seed), waits):
        for viewer, view in views.items():
            views[viewer] = RULES.follow(view, shown(events, viewer), viewer)
            assert views[viewer] == match.state.view(viewer)
            check_update(match, viewer)


def test_rare_endings_are_followed_too() -> None:
    """Stubborn play reaches void docks, stalls, forced sails, resignations and extra hands; all are followed."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        patience = (0, 1, 0.7)[seed % 3]
        options = Options(final_tie=FinalTie.EXTRA_HAND, stall_limit=8) if seed % 2 else STANDARD
        match = new_match(seed, 2 + seed % 3, options)
        views = {viewer: match.state.view(viewer) for viewer in viewers_of(match.state)}
        for events in steps(match, Random(seed), patience, rare=0.1):
            seen.update(kinds(match, events))
            for viewer, view in views.items():
                views[viewer] = RULES.follow(view, shown(events, viewer), viewer)
                assert views[viewer] == match.state.view(viewer)
    assert {"void DOCK", "void STALL", "must sail", "resigned", "sent under", "extra hand", "last hand"} <= seen.keys()


@pytest.mark.parametrize("lines", [CLOSER_CAPPOTTO, OPPONENT_CAPPOTTO])
def test_a_cappotto_is_followed(lines: list[str]) -> None:
    """R27: the closer's own leaves the others' hands hidden; an opponent's shows all."""
    position = toy(["gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 bl3 bl6 br3 br6 ye11", PINK_AND_ORANGE, VIOLET_AND_GREY])
    views = {viewer: position.view(viewer) for viewer in viewers_of(position)}
    for line in lines:
        seat, action = action_of(position, line)
        events = play(position, seat, action)
        for viewer, view in views.items():
            views[viewer] = RULES.follow(view, shown(events, viewer), viewer)
            assert views[viewer] == position.view(viewer)
    outcome = position.outcome()
    assert outcome is not None
    assert outcome.reason == "cappotto"
    view = views[None]
    assert view.known[1] == (position.hands[1] if lines is OPPONENT_CAPPOTTO else b"")


def kinds(match: Match, events: Sequence[Event]) -> list[str]:
    """Names of the rare things in a step."""
    found = ["must sail"] if match.state.must_sail() else []
    found += ["extra hand"] if match.state.extra_hand else ["last hand"] if match.state.last_hand else []
    for event in events:
        match event:
            case HandVoided(reason):
                found.append(f"void {reason.name}")
            case Resigned():
                found.append("resigned")
            case Scored(_, sent_under):
                found += ["sent under"] * bool(sent_under)
    return found


def test_the_first_update_shows_the_deal() -> None:
    """A match starts with the deal: own cards for a seat, none for a spectator."""
    match = new_match(5, 4)
    for viewer in viewers_of(match.state):
        (dealt,) = shown(match.events, viewer)
        assert dealt.hands == ()  # type: ignore[union-attr]  # the first event is the deal
        assert dealt.hand == (b"" if viewer is None else match.state.hands[viewer])  # type: ignore[union-attr]  # as above
        check_update(match, viewer)


def test_texts_of_states_and_views_name_their_cards() -> None:
    """The texts in playthroughs: a spectator's view has no own line, a seat's has his hand."""
    match = new_match(5, 2)
    assert "own [" not in str(match.state.view(None))
    assert "own [" in str(match.state.view(match.state.turn))
    assert "stock [" in str(match.state)
