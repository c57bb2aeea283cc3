"""Options by descriptor: what is completed, what is refused, and that nothing else can happen."""

from __future__ import annotations

import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.games import BrokenDescription, ServedGame
from gateway.options import MOST_BYTES, complete_options, read_options, resolve_variant
from services.kit.errors import Malformed, NotFound
from tests.gateway.local_games import describe
from tortuga.corsari.v1.corsari_pb2 import FinalTie, Options, PartitionMode, VoidRedeal
from tortuga.play.v1.game_pb2 import Game, Option, OptionType, Variant

SERVED = ServedGame.read(describe())
AUTO = PartitionMode.PARTITION_MODE_AUTO
REFUSALS = {"OPTION_MALFORMED", "OPTION_UNKNOWN", "OPTION_RANGE"}
DEFAULTS = Options(
    void_redeal=VoidRedeal.VOID_REDEAL_NEXT,
    stall_limit=0,
    no_null_discard=False,
    final_tie=FinalTie.FINAL_TIE_SHARED,
    max_void=5,
)


def complete(wanted: Options, variant: str = "standard") -> Options:
    return Options.FromString(complete_options(SERVED, variant, wanted.SerializeToString()))


def all_set(options: Options) -> bool:
    return {field.name for field, _ in options.ListFields()} == set(SERVED.described)


def refusal(data: bytes) -> tuple[str, dict[str, str]]:
    with pytest.raises(Malformed) as caught:
        complete_options(SERVED, "standard", data)
    return caught.value.reason, caught.value.params


def test_every_option_is_filled_in() -> None:
    """Nothing said gives the standard game, each option present."""
    assert complete(Options()) == DEFAULTS
    assert all_set(complete(Options()))


def test_the_variant_comes_before_the_default_and_the_client_before_both() -> None:
    """A variant is a set of defaults: what the client says still counts more."""
    assert complete(Options(), "quick").max_void == 1
    assert complete(Options(max_void=7), "quick").max_void == 7


def test_zero_said_is_not_nothing_said() -> None:
    """Presence tells a zero from silence."""
    served = ServedGame.read(
        describe(
            options=[
                Option(number=3, name="stall_limit", type=OptionType.OPTION_TYPE_INT, default_value=9, max=64),
                Option(number=4, name="no_null_discard", type=OptionType.OPTION_TYPE_BOOL, default_value=1),
            ],
            variants=[],
        )
    )
    wanted = Options(stall_limit=0, no_null_discard=False).SerializeToString()
    told = Options.FromString(complete_options(served, "", wanted))
    assert (told.stall_limit, told.no_null_discard) == (0, False)
    assert Options.FromString(complete_options(served, "", b"")).stall_limit == 9


def test_equal_options_give_equal_bytes() -> None:
    """However they were written: in another order, twice with the last counting, or left to the default."""
    forward = Options(stall_limit=8).SerializeToString() + Options(max_void=7).SerializeToString()
    backward = Options(max_void=3).SerializeToString() + Options(max_void=7, stall_limit=8).SerializeToString()
    spelled = Options(stall_limit=8, max_void=7, no_null_discard=False).SerializeToString()
    assert {complete_options(SERVED, "standard", data) for data in (forward, backward, spelled)} == {
        complete_options(SERVED, "standard", forward)
    }


@pytest.mark.parametrize(
    ("wanted", "params"),
    [
        (Options(max_void=0), {"name": "max_void", "min": "1", "max": "20"}),
        (Options(max_void=21), {"name": "max_void", "min": "1", "max": "20"}),
        (Options(stall_limit=4_294_967_295), {"name": "stall_limit", "min": "0", "max": "64"}),
        (Options(final_tie=FinalTie.FINAL_TIE_UNSPECIFIED), {"name": "final_tie", "min": "1", "max": "2"}),
        (Options(final_tie=99), {"name": "final_tie", "min": "1", "max": "2"}),  # type: ignore[arg-type]  # a number from a later release
    ],
)
def test_what_is_out_of_range_is_refused(wanted: Options, params: dict[str, str]) -> None:
    """OPTION_RANGE names the option and its limits; an enum's UNSPECIFIED, said out loud, is no value either."""
    assert refusal(wanted.SerializeToString()) == ("OPTION_RANGE", params)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (
            Options(partition=AUTO).SerializeToString(),
            "partition",
        ),  # the message has it, this description does not
        (b"\xa0\x06\x01", "100"),  # field 100, a varint
        (b"\xa2\x06\x02\x08\x01", "100"),  # field 100, with something inside
        (b"\x1a\x02\x08\x01", "3"),  # stall_limit, but as a message
        (b"\xa3\x06\x08\x01\xa4\x06", "100"),  # field 100, a group
    ],
)
def test_what_the_game_does_not_offer_is_refused(data: bytes, name: str) -> None:
    """OPTION_UNKNOWN with the name, or with the number if nobody here knows a name."""
    assert refusal(data) == ("OPTION_UNKNOWN", {"name": name})


@pytest.mark.parametrize(
    "data", [b"\x18", b"\xff" * 11, b"\x1a\x05a", b"\x00\x01", b"\x18\x08" * (MOST_BYTES // 2 + 1)]
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    """OPTION_MALFORMED, also for what is longer than any options are."""
    assert refusal(data) == ("OPTION_MALFORMED", {})


@settings(deadline=None)
@given(st.binary(max_size=64))
@example(b"\x18\x80\x80\x80\x80\x10")  # 2 ** 32: the runtime keeps the lower half
@example(b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
def test_any_bytes_are_completed_or_refused(data: bytes) -> None:
    """Whatever comes: options in range, whole and stable, or one of three refusals. Nothing else is raised."""
    try:
        completed = complete_options(SERVED, "standard", data)
    except Malformed as error:
        if error.reason not in REFUSALS:
            raise
        return
    assert complete_options(SERVED, "standard", completed) == completed
    options = Options.FromString(completed)
    assert 1 <= options.max_void <= 20
    assert options.stall_limit <= 64
    assert all_set(options)


VALID = st.builds(
    lambda values: Options(**values),
    st.fixed_dictionaries(
        {},
        optional={
            "void_redeal": st.integers(1, 2),
            "stall_limit": st.integers(0, 64),
            "no_null_discard": st.booleans(),
            "final_tie": st.integers(1, 2),
            "max_void": st.integers(1, 20),
        },
    ),
)


@settings(deadline=None)
@given(VALID, st.sampled_from(["standard", "quick"]))
def test_what_is_in_range_is_kept(wanted: Options, variant: str) -> None:
    """Every set of values that the description allows is accepted, and what was said is what comes out."""
    completed = complete(wanted, variant)
    for field, value in wanted.ListFields():
        assert getattr(completed, field.name) == value


def test_the_client_is_never_written_to() -> None:
    """The variant's defaults are the same after a thousand wishes as before."""
    before = {name: message.SerializeToString() for name, message in SERVED.complete.items()}
    for wish in range(1, 21):
        complete(Options(max_void=wish), "quick")
    assert {name: message.SerializeToString() for name, message in SERVED.complete.items()} == before


def test_the_game_has_a_pool_of_its_own() -> None:
    """Its messages are not this process's generated ones: two games may hold files of one name."""
    assert SERVED.options.file.pool is SERVED.pool
    assert GetMessageClass(SERVED.options) is not Options
    assert read_options(SERVED, b"").DESCRIPTOR is SERVED.options
    assert ServedGame.read(describe()).pool is not SERVED.pool
    assert ServedGame.read(describe()).digest == SERVED.digest


def test_variants_are_found_and_the_first_is_the_standard() -> None:
    """Empty means the standard game; an unknown one is refused; a variant may have limits of its own."""
    assert resolve_variant(SERVED, "") == "standard"
    assert resolve_variant(SERVED, "quick") == "quick"
    assert (SERVED.seats("standard"), SERVED.seats("quick")) == ((2, 4), (3, 4))
    with pytest.raises(NotFound, match="VARIANT_UNKNOWN"):
        resolve_variant(SERVED, "slow")
    bare = ServedGame.read(describe(variants=[]))
    assert resolve_variant(bare, "") == ""


OFFERED = Option(number=11, name="max_void", type=OptionType.OPTION_TYPE_INT, default_value=5, min=1, max=20)


def offered(**changes: object) -> list[Option]:
    option = Option()
    option.CopyFrom(OFFERED)
    for name, value in changes.items():
        setattr(option, name, value)
    return [option]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": ""}, "GAME_ID"),
        ({"game": "Not An Id"}, "GAME_ID"),
        ({"min_seats": 0}, "SEATS"),
        ({"min_seats": 5}, "SEATS"),
        ({"max_seats": 1000}, "SEATS"),
        ({"service": "tortuga.corsari.v1.Nothing"}, "SERVICE"),
        ({"service": "google.protobuf.Nothing"}, "SERVICE"),
        ({"options": offered(number=12)}, "OPTION"),
        ({"options": offered(name="most_void")}, "OPTION"),
        ({"options": offered(type=OptionType.OPTION_TYPE_BOOL)}, "OPTION"),
        ({"options": offered(type=OptionType.OPTION_TYPE_ENUM)}, "OPTION"),
        ({"options": offered(type=OptionType.OPTION_TYPE_UNSPECIFIED)}, "OPTION"),
        ({"options": offered(default_value=21)}, "OPTION"),
        ({"options": offered(max=2**40, default_value=2**39), "variants": []}, "DEFAULT"),
        ({"options": [OFFERED, OFFERED]}, "NAMED_TWICE"),
        ({"variants": [Variant(variant="a"), Variant(variant="a")]}, "NAMED_TWICE"),
        ({"variants": [Variant()]}, "NAMED_TWICE"),
        ({"variants": [Variant(variant="a", options=b"\xff")]}, "VARIANT"),
        ({"variants": [Variant(variant="a", options=Options(max_void=99).SerializeToString())]}, "VARIANT"),
        (
            {"variants": [Variant(variant="a", options=Options(partition=AUTO).SerializeToString())]},
            "VARIANT",
        ),
        ({"variants": [Variant(variant="a", min_seats=9)]}, "SEATS"),
    ],
)
def test_a_description_that_contradicts_itself_is_not_read(changes: dict[str, object], reason: str) -> None:
    """A pod that describes its game wrongly is found out at once, and not by the first player's wish."""
    with pytest.raises(BrokenDescription) as caught:
        ServedGame.read(describe(**changes))
    assert caught.value.reason == reason


def test_descriptors_that_lack_a_file_are_not_read() -> None:
    """The set must hold all that the service file imports."""
    response = describe()
    del response.descriptors.file[0]
    with pytest.raises(BrokenDescription, match="DESCRIPTORS"):
        ServedGame.read(response)
    response.descriptors.Clear()
    with pytest.raises(BrokenDescription, match="SERVICE"):
        ServedGame.read(response)


def test_the_description_is_kept_as_it_came() -> None:
    """The catalogue shows what the pod said, to the byte."""
    said: Game = describe().game
    assert SERVED.description == said
