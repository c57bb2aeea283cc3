"""`tortuga simulate`: random legal play over the rules alone, as fast as it goes or with every promise checked.

It works as the platform does: each action is judged on a copy of the position, which then takes the position's place.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from traceback import format_exc
from typing import Annotated, Any

import typer

from services.cli.checks import Checker, Moment, Violation
from services.cli.output import fail, note, result
from services.cli.progress import Progress, progress
from services.kit.chance import Chance
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game
from services.kit.rules import Asked, InvalidOptions, RuleError, Seat

MOST_ACTIONS = 100_000
"""Actions after which a match counts as endless; every dossier's own bound is far below."""

_SHOWN = 20
"""Violations told one by one; the rest are counted."""


@dataclass
class Run:
    """What is to be played: *matches* matches of *game*, everything in them drawn from *seed*."""

    game: AnyGame
    options: Any
    variant: str
    seats: int
    matches: int
    seed: int
    check: bool


@dataclass
class Found:
    """What came of it. *seconds* passed while playing and checking, without loading the game."""

    actions: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)
    trace: str = ""
    """Where the first exception of the rules came from that is no refusal; empty if there was none."""

    @property
    def actions_per_second(self) -> float:
        """Actions played in a second of one core, whatever else the machine did meanwhile."""
        return self.actions / self.cpu_seconds if self.cpu_seconds else 0.0


def simulate(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game's id.")],
    matches: Annotated[int, typer.Option(min=1, help="Matches to play.")] = 100,
    seats: Annotated[int | None, typer.Option(help="Seats of each match; by default the fewest.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed plays the same matches.")] = 0,
    variant: Annotated[str, typer.Option(help="A variant of the game; by default the standard game.")] = "",
    check: Annotated[bool, typer.Option("--check", help="Check the rules' promises after every action.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Play random legal matches over a game's rules alone. Ends with 1 if a promise was broken."""
    run = _prepared(game, variant, seats, matches, seed, check)
    with progress(f"simulate {game}", matches) as bar:
        found = play(run, bar)
    for violation in found.violations[:_SHOWN]:
        note(f"match {violation.match}, action {violation.action}: {violation.kind}: {violation.code}")
    if found.trace:
        note(found.trace)
    result(_summary(run, found), as_json=as_json, text=_sentences(run, found))
    if found.violations:
        raise typer.Exit(1)


def play(run: Run, bar: Progress | None = None) -> Found:
    """Play all matches of *run*, and say what was found."""
    found = Found()
    checker = Checker(run.game, run.seats, _luck(run, "check")) if run.check else None
    started, spent = time.perf_counter(), time.process_time()
    for match in range(1, run.matches + 1):
        _play_match(run, match, checker, found)
        if bar is not None:
            bar.advance()
    found.seconds = time.perf_counter() - started
    found.cpu_seconds = time.process_time() - spent
    if checker is not None:
        found.checks = checker.counts
        found.violations += checker.violations
        found.trace = found.trace or checker.trace
    return found


def _play_match(run: Run, match: int, checker: Checker | None, found: Found) -> None:
    """Play one match to its end, or to the fault that stops it."""
    rules = run.game.rules
    luck = _luck(run, match)
    key = hashlib.sha256(f"tortuga/simulate/{run.game.id}/{run.seed}/{match}".encode()).digest()
    spent: set[str] = set()
    fresh = partial(Chance, key, spent)
    actions = 0
    try:
        chance = fresh()
        state, _ = rules.start(run.options, run.seats, chance, rules.versions[0])
        spent.update(chance.used)
        if checker is not None:
            checker.begin(match, state)
        while (outcome := state.outcome()) is None:
            seat = _next_seat(state, luck, actions)
            action = state.sample(seat, luck)
            chance = fresh()
            after = state.copy()
            events = after.apply(seat, action, chance)
            if chance.used:
                spent.update(chance.used)
            actions += 1
            if checker is not None:
                checker.look(Moment(state, after, seat, action, events, fresh))
            state = after
        found.outcomes[outcome.reason] += 1
    except Exception as fault:  # whatever the rules raise in legal play is what is looked for
        code = fault.reason if isinstance(fault, RuleError) else type(fault).__name__
        found.violations.append(Violation("play", code, match, actions + 1))
        found.trace = found.trace or format_exc()
    found.actions += actions


def _luck(run: Run, of: object) -> Random:
    """The luck of one match, or of the checks: the same again for the same seed."""
    return Random(f"{run.seed}/{of}")  # noqa: S311 - choices of a simulation, no secrets


def _next_seat(state: Any, luck: Random, actions: int) -> Seat:
    """A seat that is asked, any of them where there are several."""
    asked: Sequence[Asked] = state.asked()
    if not asked:
        raise RuleError("NOBODY_ASKED")
    if actions == MOST_ACTIONS:
        raise RuleError("ENDLESS")
    return asked[0].seat if len(asked) == 1 else luck.choice(asked).seat


def _prepared(game: str, variant: str, seats: int | None, matches: int, seed: int, check: bool) -> Run:
    """The run that the arguments ask for; ends the command with 2 if they contradict each other."""
    try:
        loaded = load_game(game)
    except UnknownGame:
        fail(f"there is no game {game}; there are: {', '.join(installed_games()) or 'none'}", 2)
    variants = {known.variant: known.options for known in loaded.description.variants}
    if variant and variant not in variants:
        fail(f"{game} has no variant {variant}; it has: {', '.join(variants)}", 2)
    options = loaded.wire.read_options(variants[variant] if variant else b"")
    seats = loaded.description.min_seats if seats is None else seats
    try:
        loaded.rules.check(options, seats)
    except InvalidOptions as refusal:
        fail(f"{game} with {seats} seats: {refusal.reason}", 2)
    return Run(loaded, options, variant, seats, matches, seed, check)


def _summary(run: Run, found: Found) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "game": run.game.id,
        "variant": run.variant,
        "seats": run.seats,
        "seed": run.seed,
        "matches": run.matches,
        "actions": found.actions,
        "seconds": round(found.seconds, 3),
        "cpu_seconds": round(found.cpu_seconds, 3),
        "actions_per_second": round(found.actions_per_second),
        "outcomes": dict(sorted(found.outcomes.items())),
        "checks": dict(found.checks),
        "violations": len(found.violations),
        "violations_by_code": dict(sorted(Counter(f"{each.kind}: {each.code}" for each in found.violations).items())),
    }


def _sentences(run: Run, found: Found) -> str:
    """What is printed for people."""
    endings = ", ".join(f"{count} {reason}" for reason, count in found.outcomes.most_common())
    lines = [
        f"{run.matches} matches of {run.game.id} with {run.seats} seats, seed {run.seed}: {endings}",
        f"{found.actions} actions in {found.seconds:.1f} s, {found.actions_per_second:,.0f} a second of one core",
    ]
    if run.check:
        lines.append("checked: " + ", ".join(f"{kind} {count}" for kind, count in found.checks.items()))
    return "\n".join([*lines, f"violations: {len(found.violations)}"])
