"""The demo's players with a game whose rules can fill in templates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from services.cli.demo_players import Fills, Plan, play_all
from services.corsari import sampling
from services.corsari.actions import Action, Discard, Sail
from services.corsari.cards import COLOUR, without_card
from services.corsari.options import Options
from services.corsari.rules import CorsariRules
from services.corsari.view import View
from services.kit.game import load_game


class _Filling(CorsariRules):
    """Corsari's rules with `fill`, by the means by which a position samples."""

    def __init__(self) -> None:
        self.filled: Counter[str] = Counter()

    def fill(self, options: Options, view: View, template: Action, luck: Random) -> Action:
        self.filled[type(template).__name__] += 1
        seen: Any = SimpleNamespace(
            options=options,
            hands=(view.hand,),
            the_closer=lambda: view.closer,
            dock_colour=lambda: COLOUR[view.dock[-1]],
        )
        if not isinstance(template, Discard):
            return sampling._free_partition(seen, 0, luck)
        rest = without_card(view.hand, template.card)
        crew = sampling._crew(sampling._joinable(seen, rest), luck)
        return Discard(template.card, Sail(auto=False, crew=crew))


async def test_every_second_player_fills_in_templates(gateway: str) -> None:
    """Views followed by events are good enough to choose by: no filled action is refused, and all sorts come up."""
    rules = _Filling()
    assert isinstance(rules, Fills)
    assert not isinstance(load_game("corsari").rules, Fills), "then the demo needs no help from this test"
    game = replace(load_game("corsari"), rules=cast("Any", rules))
    played = await play_all(gateway, Plan([game], 6, seed=11), seconds=60, ended=lambda: None)
    assert [match.failures for match in played if match.failures] == []
    assert set(rules.filled) == {"Discard", "Partition"}
