"""The suite passes a right game, and catches every planted fault by the check that is meant for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.ground import DEEP, QUICK
from tests.conformance.planted import MORE, THE_TEN, Plant
from tests.conformance.small_game import GAME
from tests.conformance.suite import CHECKS, RAISED, examined

PLANTS = {**THE_TEN, **MORE}

SMALL = "tests.conformance.small_game:GAME"
"""How another process finds the small game."""

CRASHES = {RAISED, "PLAY_STOPPED"}
"""Codes of checks that could not go on: no way to catch anything."""

BRIEF = replace(QUICK, longest=1500)
"""The small game is over after some twenty entries."""

FIXED = "20261130"
"""The seed of all that is caught here, whatever the environment says."""

LOOKS = {
    "legality": {"LEGAL_REFUSED", "SAMPLE_REFUSED", "ACCEPTED", "CHANGED", "TRACE"},
    "text_forms": {"FORM", "TEXT", "BYTES"},
    "dump_load": {"READS_BACK", "VIEW", "BEHAVES", "SAMPLE"},
    "events_and_views": {"FOLLOW", "FOLLOW_READ", "VIEW_READ", "LEGAL_READ"},
    "non_interference": {"VIEW", "LEGAL", "DECISION", "REFUSAL", "UPDATE", "CHOICE"},
    "silence": {"TIMEOUT_CLOSES_NOTHING", "RESIGN_UNSOUND"},
    "decisions": {"COUNT", "NOT_ASKED", "NUMBER"},
    "bots": {"SILENT", "ORDER", "REASON", "BYTES", "ILLEGAL", "ANSWERS_NOTHING", "REPEATS", "BLIND"},
}
"""Promises that a check must have looked at many times in a game that has secrets, windows and templates."""


@pytest.mark.parametrize("check", CHECKS)
def test_a_right_game_passes(check: str) -> None:
    """The small game without a fault: nothing is found, and no promise was left aside."""
    found = examined(check, GAME, reference=SMALL)
    assert not found.faults, "\n".join(map(str, found.faults))
    for promise in LOOKS.get(check, ()):
        assert found.looked[promise] >= 10, promise


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_planted_fault_is_caught(plant: Plant) -> None:
    """By the check that is meant for it, with the code that says what is wrong, and not because something crashed."""
    assert plant.code not in CRASHES
    effort = replace(BRIEF, matches=plant.matches)
    found = examined(plant.check, plant.game(), effort, seed=FIXED, reference=plant.reference)
    assert found.counts[plant.code], f"{plant.code} is not among {dict(found.counts)}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, plant in PLANTS.items() if plant.alone])
def test_no_other_check_is_misled(name: str) -> None:
    """What breaks one promise only is found by one check only."""
    plant = PLANTS[name]
    for check in CHECKS:
        if check != plant.check:
            found = examined(check, plant.game(), BRIEF, seed=FIXED)
            assert not found.faults, "\n".join(map(str, found.faults))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("check", CHECKS)
def test_a_right_game_passes_in_depth(check: str) -> None:
    """The same over many more matches and positions."""
    found = examined(check, GAME, DEEP, reference=SMALL)
    assert not found.faults, "\n".join(map(str, found.faults))


def test_every_check_bites() -> None:
    """Ten faults are named in the issue; with the others no check is without one."""
    assert len(THE_TEN) == 10
    assert {plant.check for plant in PLANTS.values()} == set(CHECKS)
