"""Tables: a game with a number of seats and options. Every variant with every number of seats, and random options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from services.kit.game import AnyGame
from services.kit.rules import InvalidOptions, Seat, Viewer
from tests.conformance.faults import Findings
from tests.conformance.refusals import refusal_faults
from tortuga.play.v1.game_pb2 import OPTION_TYPE_BOOL, Option


@dataclass(frozen=True)
class Table:
    """What a match is played with; *options* are bytes of the game's options message."""

    game: AnyGame
    seats: int
    options: bytes
    about: str

    def __str__(self) -> str:
        return f"{self.game.id}, {self.seats} seats, {self.about}"

    @property
    def everyone(self) -> list[Seat]:
        """All seats."""
        return [Seat(seat) for seat in range(self.seats)]

    @property
    def viewers(self) -> list[Viewer]:
        """A spectator, and all seats."""
        return [None, *self.everyone]


def every_table(game: AnyGame) -> Iterator[Table]:
    """Every variant with every number of seats that it allows."""
    about = game.description
    for variant in about.variants:
        fewest, most = variant.min_seats or about.min_seats, variant.max_seats or about.max_seats
        for seats in range(fewest, most + 1):
            yield Table(game, seats, variant.options, f"variant {variant.variant}")


def random_tables(game: AnyGame, count: int, luck: Random, findings: Findings) -> Iterator[Table]:
    """Up to *count* tables with a random value of every option; what the rules refuse is refused by a code."""
    for _ in range(count if game.description.options else 0):
        options = game.message("Options")()
        for option in game.description.options:
            setattr(options, option.name, luck.choice(_values(option)))
        data = options.SerializeToString(deterministic=True)
        seats = luck.randint(game.description.min_seats, game.description.max_seats)
        try:
            game.rules.check(game.wire.read_options(data), seats)
        except InvalidOptions as refusal:  # some options contradict each other, or the number of seats
            for fault in refusal_faults(refusal):
                findings.add("OPTIONS_REFUSAL", fault)
            continue
        yield Table(game, seats, data, "options " + " ".join(str(options).split()))


def spread(tables: Sequence[Table], count: int, luck: Random) -> list[Table]:
    """*count* of the tables: always the fewest and the most seats, the others by chance."""
    if len(tables) <= count:
        return list(tables)
    by_seats = sorted(range(len(tables)), key=lambda index: tables[index].seats)
    kept = {by_seats[0], by_seats[-1]}
    kept |= set(luck.sample(sorted(set(by_seats) - kept), count - len(kept)))
    return [tables[index] for index in sorted(kept)]


def _values(option: Option) -> Sequence[int]:
    if option.type == OPTION_TYPE_BOOL:
        return (0, 1)
    return [value.number for value in option.values] or [option.default_value, option.min, option.max]
