"""Every game that is registered, or named in TORTUGA_CONFORMANCE_GAMES, keeps every promise of design §1, §3 and §4."""

from __future__ import annotations

import pytest

from tests.conformance.faults import Findings
from tests.conformance.games import game_named, named_games
from tests.conformance.ground import DEEP, QUICK, Effort
from tests.conformance.suite import CHECKS, SEED, examined


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", named_games())
def test_the_game_conforms(name: str, check: str) -> None:
    """The check finds no fault in the game."""
    _assert_clean(name, check, QUICK)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", named_games())
def test_the_game_conforms_in_depth(name: str, check: str) -> None:
    """The same over many more matches, tables and positions."""
    _assert_clean(name, check, DEEP)


def _assert_clean(name: str, check: str, effort: Effort) -> None:
    print(f"TORTUGA_CONFORMANCE_SEED={SEED} {effort}")
    found: Findings = examined(check, game_named(name), effort, reference=name)
    assert not found.faults, "\n".join(map(str, found.faults))
    assert found.looked, "the check looked at nothing"
