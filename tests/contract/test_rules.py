"""Every contract of this repository holds the rules, and each rule bites when a fault is planted."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.contract.compiled import games
from tests.contract.conftest import Planting
from tests.contract.plants import PLANTS, Plant, Rule
from tests.contract.rules import any_faults, comment_faults, enum_faults, file_faults, game_faults, own_fields

RULES: tuple[Rule, ...] = (comment_faults, enum_faults, file_faults, any_faults, game_faults)


@pytest.mark.parametrize("rule", RULES)
def test_every_contract_holds(rule: Rule, contracts: FileDescriptorSet) -> None:
    """No contract below proto/ breaks the rule."""
    assert list(rule(contracts)) == []


def test_the_first_game_is_among_the_games(contracts: FileDescriptorSet) -> None:
    """Games are found by their service, so a walk over none cannot pass unseen."""
    assert "corsari" in [game.game for game in games(contracts)]


def test_a_right_contract_passes(plant: Planting) -> None:
    """The small game that faults are planted in has none itself."""
    right = plant()
    assert [fault for rule in RULES for fault in rule(right)] == []


@pytest.mark.parametrize("planted", PLANTS.values(), ids=PLANTS)
def test_a_planted_fault_is_found(planted: Plant, plant: Planting) -> None:
    """The rule that a planted fault breaks names it."""
    assert any(planted.found in fault for fault in planted.rule(plant((planted.old, planted.new))))


def test_own_fields_are_found_by_comment_and_number(plant: Planting) -> None:
    """What begins with "Own", a View's fields from 32 on, and the platform's own fields in responses are own."""
    own = own_fields(plant())
    assert own >= {
        "tortuga.nim.v1.Bet.on",
        "tortuga.nim.v1.View.own_bet",
        "tortuga.nim.v1.Update.legal",
        "tortuga.nim.v1.PlayResponse.header",
        "tortuga.nim.v1.ReplayResponse.record",
    }
    assert not own & {"tortuga.nim.v1.View.stones", "tortuga.nim.v1.PlayResponse.status", "tortuga.nim.v1.Update.view"}
