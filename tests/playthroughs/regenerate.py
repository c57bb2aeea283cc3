"""Write the golden playthroughs of every installed game: `python -m tests.playthroughs.regenerate`.

A file is one match of random legal play, in which every second decision is answered by silence. Each step shows what
is public, what is hidden from all, what each seat's view adds, the legal actions, the choice, and the events as shown.
After the first steps only the end is shown. Lines of a step begin with who may see them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from services.kit.chance import Chance
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.rules import Outcome, Seat, State, shown

FOLDER: Final = Path(__file__).parent
STEPS: Final = 24
"""Decisions that are written out."""

FILES: Final = 3
"""Numbers of seats that are shown, from the fewest."""


def seat_counts(game: AnyGame) -> Sequence[int]:
    """Numbers of seats that have a file."""
    least, most = game.description.min_seats, game.description.max_seats
    return range(least, min(most, least + FILES - 1) + 1)


def path_of(game: AnyGame, seats: int) -> Path:
    """Where the playthrough lies."""
    return FOLDER / game.id / f"{seats}_seats.txt"


def playthrough(game: AnyGame, seats: int) -> str:
    """The match in words; always the same for the same rules."""
    return "".join(f"{line}\n" for line in _lines(game, seats))


def _lines(game: AnyGame, seats: int) -> Iterator[str]:
    name = f"playthrough/{game.id}/{seats}"
    key, luck = hashlib.sha256(name.encode()).digest(), Random(name)
    chance = Chance(key)
    options, version = game.wire.read_options(b""), game.rules.versions[0]
    state, events = game.rules.start(options, seats, chance, version)
    spent = set(chance.used)
    yield f"# {game.id}, {seats} seats, rules version {version}, key {key.hex()}"
    yield from _events(events, seats)
    step = 0
    while (outcome := state.outcome()) is None:
        step += 1
        seat = luck.choice(state.asked()).seat
        silent = luck.random() < 1 / 2
        action = state.sample(seat, luck)
        before, state, chance = state, state.copy(), Chance(key, spent)
        events = state.timeout(seat, chance) if silent else state.apply(seat, action, chance)
        spent.update(chance.used)
        if step <= STEPS or state.outcome() is not None:
            yield from ("", f"== {step}")
            yield from _position(before, seats)
            yield from _legal(before, seat)
            yield f"play {seat} | {'(silence)' if silent else action}"
            yield from _events(events, seats)
    yield from ("", "== end")
    yield from _position(state, seats)
    yield from _outcome(outcome)


def _position(state: State[Any, Any, Any], seats: int) -> Iterator[str]:
    public = str(state.view(None)).splitlines()
    yield f"asked | {', '.join(f'{seat} (decision {decision})' for seat, decision in state.asked())}".rstrip()
    yield from (f"public | {line}" for line in public)
    yield from (f"hidden | {line}" for line in str(state).splitlines() if line not in public)
    for seat in range(seats):
        own = str(state.view(Seat(seat))).splitlines()
        yield from (f"seat {seat} | {line}" for line in own if line not in public)


def _legal(state: State[Any, Any, Any], seat: Seat) -> Iterator[str]:
    legal = state.legal(seat)
    yield f"legal {seat} | {'; '.join(map(str, legal.actions))}"
    if legal.templates:
        yield f"free {seat} | {'; '.join(map(str, legal.templates))}"


def _events(events: Sequence[Any], seats: int) -> Iterator[str]:
    for event in events:
        public = event.public()
        if public is not None:
            yield from (f"event | {line}" for line in str(public).splitlines())
        for seat in range(seats):
            own = [each for each in shown([event], Seat(seat)) if each != public]
            yield from (f"event {seat} | {line}" for each in own for line in str(each).splitlines())


def _outcome(outcome: Outcome) -> Iterator[str]:
    yield f"outcome | {outcome.reason}"
    for place in outcome.places:
        yield f"outcome | seat {place.seat} rank {place.rank} points {place.points}"
    for award in outcome.awards:
        yield f"outcome | {award.code} {list(award.seats)}"


def main() -> None:
    """Write all files, and name those that changed."""
    for name in installed_games():
        game = load_game(name)
        for seats in seat_counts(game):
            path, text = path_of(game, seats), playthrough(game, seats)
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                sys.stdout.write(f"{path.relative_to(FOLDER)}\n")


if __name__ == "__main__":
    main()
