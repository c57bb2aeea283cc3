"""The suite: every check by its name, and what it finds in a game.

A game passes by being registered. Another package runs the suite over its own game by

    TORTUGA_CONFORMANCE_GAMES=mygame python -m pytest tests/conformance/test_games.py

or from its tests by `faults_of(game)`. It takes this folder, `tests/contract` and grpcio-tools, which that needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from traceback import format_exc

from services.kit.game import AnyGame
from tests.conformance.addressed import addressed_chance
from tests.conformance.bots import bots
from tests.conformance.bounds import bounds
from tests.conformance.contract import contract
from tests.conformance.decisions import decisions
from tests.conformance.dumps import dump_load
from tests.conformance.faults import Fault, Findings
from tests.conformance.forms import text_forms
from tests.conformance.ground import QUICK, Check, Effort, Ground
from tests.conformance.legality import legality
from tests.conformance.redeals import redeal
from tests.conformance.replays import replay
from tests.conformance.secrecy import non_interference
from tests.conformance.silence import silence
from tests.conformance.views import events_and_views

SEED = os.environ.get("TORTUGA_CONFORMANCE_SEED", "20261130")
"""Everything that is played and tried comes from it."""

RAISED = "RAISED"
"""The code of a check that an exception ended; every other code says which promise is broken."""

CHECKS: Mapping[str, Check] = {
    "contract": contract,
    "legality": legality,
    "text_forms": text_forms,
    "dump_load": dump_load,
    "events_and_views": events_and_views,
    "non_interference": non_interference,
    "redeal": redeal,
    "addressed_chance": addressed_chance,
    "replay": replay,
    "silence": silence,
    "bounds": bounds,
    "decisions": decisions,
    "bots": bots,
}


def examined(name: str, game: AnyGame, effort: Effort = QUICK, *, seed: str = SEED, reference: str = "") -> Findings:
    """What the check *name* finds in *game*.

    *reference* is how a new process finds the game (`games.game_named`); without it nothing is folded in another one.
    """
    ground = Ground(game, name, effort, seed, reference)
    try:
        CHECKS[name](ground)
    except Exception:  # whatever the game raises where nothing may be raised is a fault
        ground.findings.add(RAISED, format_exc(limit=-6))
    return ground.findings


def faults_of(game: AnyGame, effort: Effort = QUICK, *, seed: str = SEED, reference: str = "") -> list[Fault]:
    """What all checks find in *game*; see `examined`."""
    return [fault for name in CHECKS for fault in examined(name, game, effort, seed=seed, reference=reference).faults]
