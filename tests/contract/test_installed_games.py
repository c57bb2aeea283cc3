"""Every installed game, also one from another wheel: its contract, its options, and its bytes over random matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from services.kit.chance import Chance
from services.kit.encoding import update_field
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.rules import Seat, shown
from tests.contract.concatenation import concatenation_faults
from tests.contract.rules import game_faults, own_fields
from tortuga.play.v1.game_pb2 import OPTION_TYPE_BOOL, OPTION_TYPE_ENUM, OPTION_TYPE_INT

SEED = 20261130
MATCHES = 6


@pytest.fixture(params=installed_games())
def game(request: pytest.FixtureRequest) -> AnyGame:
    """Each installed game in turn."""
    return load_game(request.param)


def test_its_contract_holds_the_rules(game: AnyGame) -> None:
    """The descriptors that it serves hold what proto/ is held to."""
    contracts = _contracts_of(game)
    assert list(game_faults(contracts)) == []
    assert game.description.service == game.service.full_name
    assert game.service.file.package == f"tortuga.{game.id}.v1"


def test_its_options_are_described_as_they_are(game: AnyGame) -> None:
    """DescribeGame gives each field of Options once: number, name, kind, default, range or values."""
    fields = {field.number: field for field in _message(game, "Options").fields}
    described = {option.number: option for option in game.description.options}
    assert len(described) == len(game.description.options)
    assert {(number, option.name) for number, option in described.items()} == {
        (number, field.name) for number, field in fields.items()
    }
    for number, option in described.items():
        field = fields[number]
        assert option.type == _option_type(field), option.name
        if option.type == OPTION_TYPE_ENUM:
            assert field.enum_type is not None
            assert {value.number for value in option.values} == set(field.enum_type.values_by_number) - {0}
            assert option.default_value in {value.number for value in option.values}
            for value in option.values:
                assert field.enum_type.values_by_number[value.number].name.endswith(f"_{value.name.upper()}")
        elif option.type == OPTION_TYPE_INT:
            assert option.min < option.max, option.name
        else:
            assert option.default_value in (0, 1)


def test_its_variants_are_playable(game: AnyGame) -> None:
    """The bytes of every variant are options that the rules take, for each number of seats it allows."""
    assert game.description.variants, "the first variant is the standard game"
    for variant in game.description.variants:
        options = game.wire.read_options(variant.options)
        fewest = variant.min_seats or game.description.min_seats
        most = variant.max_seats or game.description.max_seats
        assert 1 <= fewest <= most
        for seats in range(fewest, most + 1):
            game.rules.check(options, seats)


def test_public_and_own_bytes_are_one_message(game: AnyGame, contracts: FileDescriptorSet) -> None:
    """The rule of concatenation, by descriptor, for every (public, own) pair that random matches make."""
    response = _message(game, "PlayResponse")
    known = {file.name for file in contracts.file}
    others = [file for file in _contracts_of(game).file if file.name not in known]
    hidden = own_fields(FileDescriptorSet(file=[*contracts.file, *others]))
    pairs = 0
    for state, events, seats in _random_play(game):
        public = game.wire.public_events(events)
        whole = game.wire.public_view(state)
        assert concatenation_faults(response, update_field(whole + public), b"", hidden) == []
        for seat in seats:
            own = game.wire.own_events(events, seat) + game.wire.legal(state, seat)
            own_view = game.wire.own_view(state, seat)
            assert concatenation_faults(response, update_field(public), update_field(own), hidden) == []
            begun = update_field(whole + public), update_field(own_view + own)
            assert concatenation_faults(response, *begun, hidden) == []
            pairs += 2
    assert pairs > 500


def test_what_is_received_is_what_was_shown(game: AnyGame) -> None:
    """The codec reads back, from the concatenated bytes, each viewer's view, events, legal actions and templates."""
    update = game.message("Update")
    for state, events, seats in _random_play(game):
        public = game.wire.public_view(state) + game.wire.public_events(events)
        watched = update.FromString(public)
        assert list(game.wire.read_events(watched)) == shown(events, None)
        assert game.wire.read_view(watched, None) == state.view(None)
        for seat in seats:
            own = game.wire.own_view(state, seat) + game.wire.own_events(events, seat) + game.wire.legal(state, seat)
            read = update.FromString(public + own)
            assert list(game.wire.read_events(read)) == shown(events, seat)
            assert game.wire.read_view(read, seat) == state.view(seat)
            assert list(map(list, game.wire.read_legal(read))) == list(map(list, state.legal(seat)))


def test_actions_come_back_from_their_bytes(game: AnyGame) -> None:
    """`read_action` reads what `write_action` wrote, for every legal action on the way."""
    for state, _, seats in _random_play(game):
        for seat in seats:
            for action in state.legal(seat).actions:
                assert game.wire.read_action(game.wire.write_action(action)) == action


def _random_play(game: AnyGame) -> Iterator[tuple[Any, Sequence[Any], list[Seat]]]:
    """Positions of random matches with every number of seats, the events that led to each, and the seats."""
    for seats in range(game.description.min_seats, min(game.description.max_seats, 6) + 1):
        for match in range(MATCHES):
            print(f"{game.id}, {seats} seats, Random('{SEED}/{seats}/{match}')")
            luck = Random(f"{SEED}/{seats}/{match}")
            key = luck.randbytes(32)
            spent: set[str] = set()
            chance = Chance(key, spent)
            state, events = game.rules.start(game.wire.read_options(b""), seats, chance, game.rules.versions[0])
            everyone = [Seat(seat) for seat in range(seats)]
            yield state, events, everyone
            while state.outcome() is None:
                spent.update(chance.used)
                chance = Chance(key, spent)
                seat = luck.choice(state.asked()).seat
                action = state.sample(seat, luck)
                state = state.copy()
                events = state.apply(seat, action, chance)
                yield state, events, everyone


def _message(game: AnyGame, name: str) -> Descriptor:
    return cast(Descriptor, game.message(name).DESCRIPTOR)


def _option_type(field: FieldDescriptor) -> int:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return OPTION_TYPE_BOOL
    return OPTION_TYPE_ENUM if field.enum_type is not None else OPTION_TYPE_INT


def _contracts_of(game: AnyGame) -> FileDescriptorSet:
    """The game's service file and all that it imports, as it would be served: without comments."""
    found: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name not in found:
            for dependency in file.dependencies:
                add(dependency)
            found[file.name] = FileDescriptorProto.FromString(file.serialized_pb)

    add(game.service.file)
    return FileDescriptorSet(file=found.values())
