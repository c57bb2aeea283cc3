"""`dump_load`: a dump is the whole position: read back it has the same bytes, looks the same and plays on the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from services.kit.entry import KIT_MARK, parse_kit
from services.kit.rules import RuleError
from services.kit.step import RUNNING, Step
from tests.conformance.ground import Ground, Line
from tests.conformance.match import choose

_AHEAD = 20
"""Random actions that a position read back is played on."""


def dump_load(ground: Ground) -> None:
    """At every step; beside the match runs another that is dumped and loaded anew before every entry."""
    for line in ground.lines():
        twin: Step | None = None
        for step in line.play():
            state: Any = step.game
            data = state.dump()
            ground.findings.expect(state.copy().dump() == data, "COPY")
            loaded = ground.game.rules.load(data)
            ground.findings.expect(loaded.dump() == data, "READS_BACK")
            _looks_the_same(ground, line, state, loaded)
            if twin is not None:
                twin = _goes_on(ground, line, twin, step)
            if twin is None:
                twin = step
            twin = replace(twin, game=ground.game.rules.load(data))
            if step.standing.state == RUNNING and line.look(step):
                _plays_the_same(ground, line, step)


def _looks_the_same(ground: Ground, line: Line, state: Any, loaded: Any) -> None:
    expect = ground.findings.expect
    for viewer in line.match.table.viewers:
        expect(loaded.view(viewer) == state.view(viewer), "VIEW", f"viewer {viewer}")
    for seat in line.match.table.everyone:
        mine, theirs = loaded.legal(seat), state.legal(seat)
        same = list(mine.actions) == list(theirs.actions) and list(mine.templates) == list(theirs.templates)
        expect(same, "LEGAL", f"seat {seat}")
    expect(list(loaded.asked()) == list(state.asked()), "ASKED", f"{loaded.asked()} is not {state.asked()}")
    expect(list(loaded.asked_publicly()) == list(state.asked_publicly()), "ASKED")
    expect(loaded.outcome() == state.outcome(), "OUTCOME")


def _goes_on(ground: Ground, line: Line, twin: Step, step: Step) -> Step | None:
    """The step after the same entry, played on what was read back; None if it comes out otherwise."""
    entry = step.entry
    try:
        if entry.text.startswith(KIT_MARK) or entry.seat is None:
            kit = parse_kit(entry.text, entry.seat)
            after = line.match.judge.judge_kit(twin, kit, entry.seat, entry.action_id, entry.time_ms)
        else:
            after = line.match.act(twin, entry.seat, ground.game.rules.parse(entry.text))
    except RuleError as refusal:
        ground.findings.add("BEHAVES", f"{entry.text} is refused once read back: {refusal.reason}")
        return None
    now: Any = step.game
    then: Any = after.game
    same = then.dump() == now.dump() and after.events == step.events and after.entry == step.entry
    return after if ground.findings.expect(same, "BEHAVES", f"{entry.text} on what was read back") else None


def _plays_the_same(ground: Ground, line: Line, step: Step) -> None:
    """The next actions, sampled from either with the same luck, are the same and do the same."""
    state: Any = step.game
    mine, theirs = step, replace(step, game=ground.game.rules.load(state.dump()))
    seed = line.luck.random()
    lucks = Random(seed), Random(seed)
    for _ in range(_AHEAD):
        if mine.standing.state != RUNNING:
            return
        seat = mine.asked[0].seat
        actions = [choose(each.game, seat, luck) for each, luck in zip((mine, theirs), lucks, strict=True)]
        if not ground.findings.expect(actions[0] == actions[1], "SAMPLE", f"{actions[0]} is not {actions[1]}"):
            return
        mine, theirs = (line.match.act(each, seat, actions[0]) for each in (mine, theirs))
        dumps = [each.game.dump() for each in (mine, theirs) if each.game is not None]
        if not ground.findings.expect(dumps[0] == dumps[1], "BEHAVES", f"after {actions[0]}"):
            return
