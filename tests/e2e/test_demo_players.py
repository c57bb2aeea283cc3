"""The demo's players fill in templates where the game's rules offer it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any, cast

from services.cli.demo_players import Fills, Plan, play_all
from services.corsari.actions import Action
from services.corsari.options import Options
from services.corsari.rules import CorsariRules
from services.corsari.view import View
from services.kit.game import load_game


class _Counting(CorsariRules):
    """Corsari's rules, which count what they filled in."""

    def __init__(self) -> None:
        self.filled: Counter[str] = Counter()

    def fill(self, options: Options, view: View, template: Action, luck: Random) -> Action:
        self.filled[type(template).__name__] += 1
        return super().fill(options, view, template, luck)


async def test_every_second_player_fills_in_templates(gateway: str) -> None:
    """Views followed by events are good enough to choose by: no filled action is refused, and all sorts come up."""
    rules = _Counting()
    assert isinstance(rules, Fills)
    assert isinstance(load_game("corsari").rules, Fills)
    game = replace(load_game("corsari"), rules=cast("Any", rules))
    played = await play_all(gateway, Plan([game], 6, seed=11), seconds=60, ended=lambda: None)
    assert [match.failures for match in played if match.failures] == []
    assert set(rules.filled) == {"Discard", "Partition"}
