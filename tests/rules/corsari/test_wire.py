"""The codec: hand-made bytes equal those of the generated classes; what clients send is read or refused."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.actions import SIMPLE, Action, partition_into, sail_with
from services.corsari.cards import COUNT
from services.corsari.encoding import varint
from services.corsari.game import GAME
from services.corsari.options import RANGES, STANDARD, Options
from services.corsari.wire import WIRE
from services.kit.game import load_game
from services.kit.rules import InvalidAction, InvalidOptions
from tests.rules.corsari import objects
from tests.rules.corsari.driver import any_options, new_match, seats_of, seeds, steps
from tests.rules.corsari.test_following import update_bytes
from tortuga.corsari.v1 import corsari_pb2 as pb
from tortuga.play.v1 import game_pb2 as play


@settings(max_examples=40, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), st.sampled_from([0, 0.7]))
def test_bytes_equal_those_of_objects(seed: int, seats: int, options: Options, waits: float) -> None:
    """Events, legal actions and views, each piece by itself and all of them joined."""
    match = new_match(seed, seats, options)
    for events in steps(match, Random(seed), waits):
        state = match.state
        public_view = pb.Update(view=objects.view(state.view(None)))
        assert WIRE.public_view(state) == public_view.SerializeToString(deterministic=True)
        public = pb.Update(events=objects.public_events(events))
        assert WIRE.public_events(events) == public.SerializeToString(deterministic=True)
        for seat in seats_of(state):
            own = pb.Update(events=objects.own_events(events, seat))
            assert WIRE.own_events(events, seat) == own.SerializeToString(deterministic=True)
            legal = state.legal(seat)
            told = pb.Update(legal=map(objects.action, legal.actions), templates=map(objects.action, legal.templates))
            assert WIRE.legal(state, seat) == told.SerializeToString(deterministic=True)
            whole = objects.update(state, events, seat)
            assert pb.Update.FromString(update_bytes(state, events, seat)) == whole


card_lists = st.lists(st.integers(0, COUNT - 1), max_size=13).map(bytes)
actions = st.one_of(
    st.sampled_from(SIMPLE),
    st.builds(sail_with, st.integers(0, COUNT - 1), card_lists),
    st.builds(partition_into, card_lists, card_lists),
)


@given(actions)
def test_actions_read_back(action: Action) -> None:
    """Written, read, and equal to the object's bytes."""
    data = WIRE.write_action(action)
    assert data == objects.action(action).SerializeToString(deterministic=True)
    assert WIRE.read_action(data) == action


def test_lists_may_come_in_any_order() -> None:
    """A crew is a set: the order that a client chose is not kept; a card named twice is (K2)."""
    sent = pb.Action(discard=pb.Discard(card=3, sail=pb.Sail(crew=[9, 2, 9])))
    assert str(WIRE.read_action(sent.SerializeToString())) == "discard pk4 sail crew=pk3,pk10,pk10"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (pb.Action(), "MALFORMED"),
        (pb.Action(draw=pb.Draw()), "SOURCE"),
        (pb.Action(draw=pb.Draw(source=4)), "SOURCE"),  # type: ignore[arg-type]  # a source that no client should send
        (pb.Action(discard=pb.Discard(card=110)), "MALFORMED"),
        (pb.Action(discard=pb.Discard(card=1, sail=pb.Sail(crew=[110]))), "MALFORMED"),
        (pb.Action(discard=pb.Discard(card=1, sail=pb.Sail(auto=True, crew=[2]))), "MALFORMED"),
        (pb.Action(discard=pb.Discard(card=1, sail=pb.Sail(crew=[2] * 14))), "MALFORMED"),
        (pb.Action(partition=pb.Partition(auto=True, attach=[2])), "MALFORMED"),
        (pb.Action(partition=pb.Partition(attach=[2] * 14)), "MALFORMED"),
        (pb.Action(partition=pb.Partition(crew=[4_000_000_000])), "MALFORMED"),
    ],
)
def test_what_is_no_action_is_refused(sent: pb.Action, reason: str) -> None:
    """A code, and nothing else (K5)."""
    with pytest.raises(InvalidAction) as refusal:
        WIRE.read_action(sent.SerializeToString())
    assert (refusal.value.reason, refusal.value.params) == (reason, {})


@given(st.binary(max_size=40))
def test_any_bytes_are_an_action_or_refused(data: bytes) -> None:
    """Nothing else is raised, and what is read has a text form."""
    try:
        action = WIRE.read_action(data)
    except InvalidAction:
        return
    assert GAME.rules.parse(str(action)) == action


@given(any_options())
def test_options_read_back(options: Options) -> None:
    """Written whole and read; unset fields take the defaults."""
    assert WIRE.read_options(WIRE.write_options(options)) == options


def test_unset_options_take_the_defaults() -> None:
    """Nothing sent is the standard game; an enum's zero is as good as unset; false differs from unset."""
    assert WIRE.read_options(b"") == STANDARD
    assert WIRE.read_options(pb.Options(partition=pb.PARTITION_MODE_UNSPECIFIED).SerializeToString()) == STANDARD
    sent = pb.Options(crew_may_use_dock_colour=False)
    assert WIRE.read_options(sent.SerializeToString()) == Options(crew_may_use_dock_colour=False)


@pytest.mark.parametrize(
    ("data", "reason", "params"),
    [
        (b"\xff", "OPTION_MALFORMED", {}),
        (pb.Options(stall_limit=7).SerializeToString(), "OPTION_RANGE", {"option": "stall_limit"}),
        (pb.Options(stall_limit=65).SerializeToString(), "OPTION_RANGE", {"option": "stall_limit"}),
        (pb.Options(max_void=0).SerializeToString(), "OPTION_RANGE", {"option": "max_void"}),
        (pb.Options(max_void=21).SerializeToString(), "OPTION_RANGE", {"option": "max_void"}),
        (pb.Options(final_tie=3).SerializeToString(), "OPTION_RANGE", {"option": "final_tie"}),  # type: ignore[arg-type]  # out of range on purpose
        (b"\xf8\x06\x01", "OPTION_UNKNOWN", {"option": "111"}),
    ],
)
def test_wrong_options_are_refused(data: bytes, reason: str, params: dict[str, str]) -> None:
    """With a code and the option."""
    with pytest.raises(InvalidOptions) as refusal:
        WIRE.read_options(data)
    assert (refusal.value.reason, refusal.value.params) == (reason, params)


def test_the_number_of_seats_is_checked() -> None:
    """R2, K5: two to four; any other number is refused when the match is made."""
    for seats in (2, 3, 4):
        GAME.rules.check(STANDARD, seats)
    for seats in (0, 1, 5):
        with pytest.raises(InvalidOptions) as refusal:
            GAME.rules.check(STANDARD, seats)
        assert (refusal.value.reason, refusal.value.params) == ("PLAYERS", {"least": "2", "most": "4"})


def test_the_game_is_described() -> None:
    """Found by its entry point; every option of the contract with its default and range."""
    assert load_game("corsari") is GAME
    assert GAME.id == "corsari"
    assert GAME.description.service == GAME.service.full_name
    fields = pb.Options.DESCRIPTOR.fields
    assert [(option.number, option.name) for option in GAME.description.options] == [
        (field.number, field.name) for field in fields
    ]
    for option, field in zip(GAME.description.options, fields, strict=True):
        assert option.default_value == getattr(STANDARD, option.name)
        if option.type == play.OPTION_TYPE_ENUM:
            assert field.enum_type is not None
            assert [value.number for value in option.values] == [value.number for value in field.enum_type.values][1:]
        elif option.type == play.OPTION_TYPE_INT:
            assert (option.min, option.max) == (min(RANGES[option.name]), max(RANGES[option.name]))
    assert [variant.variant for variant in GAME.description.variants] == ["standard"]
    assert GAME.message("PlayResponse").DESCRIPTOR.full_name == "tortuga.corsari.v1.PlayResponse"


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 16384, 2**32])
def test_varints(number: int) -> None:
    """As protobuf writes them."""
    sent = pb.Options(stall_limit=number) if number < 2**32 else None
    if sent is not None:
        assert sent.SerializeToString() == b"\x18" + varint(number)
    assert varint(2**32) == b"\x80\x80\x80\x80\x10"
