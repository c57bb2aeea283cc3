"""`contract`: the descriptors that the game serves hold what `tests/contract` holds every contract to."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from services.kit.game import AnyGame
from services.kit.rules import InvalidOptions
from tests.conformance.ground import Ground
from tests.conformance.refusals import refusal_faults
from tests.contract import test_installed_games as installed

_PROMISES: tuple[Callable[[AnyGame], None], ...] = (
    installed.test_its_contract_holds_the_rules,
    installed.test_its_options_are_described_as_they_are,
    installed.test_its_variants_are_playable,
)
"""What `tests/contract` asks of installed games, asked here of any game."""


def contract(ground: Ground) -> None:
    """Calls, platform fields, the game's own parts, options, variants, texts; seats out of range are refused."""
    for promise in _PROMISES:
        try:
            promise(ground.game)
        except AssertionError as broken:
            ground.findings.add("RULE", f"{promise.__name__}: {broken}")
    about = ground.game.description
    ground.findings.expect(1 <= about.min_seats <= about.max_seats, "SEATS", about)
    ground.findings.expect(list(about.rules_versions) == list(ground.game.rules.versions) != [], "VERSIONS", about)
    standard = ground.game.wire.read_options(about.variants[0].options if about.variants else b"")
    for seats in (0, about.max_seats + 1):
        try:
            ground.game.rules.check(standard, seats)
        except InvalidOptions as refusal:
            for fault in refusal_faults(refusal):
                ground.findings.add("OPTIONS_REFUSAL", fault)
        else:
            ground.findings.add("SEATS_ACCEPTED", seats)


def served(game: AnyGame) -> FileDescriptorSet:
    """The game's service file and all that it imports, as it is served: without comments."""
    found: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name not in found:
            for dependency in file.dependencies:
                add(dependency)
            found[file.name] = FileDescriptorProto.FromString(file.serialized_pb)

    add(game.service.file)
    return FileDescriptorSet(file=found.values())
