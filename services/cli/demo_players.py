"""The players of the demo: clients like any other, which know a game only by its entry point, and choose at random.

Every second player chooses among the actions that are ready to be sent, so that whatever a game can do automatically,
such as a split, is done so. The others choose among the templates too, filled in by `fill` of the game's rules if they
offer it (`Fills`); of games that do not, everyone plays like the first kind.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, runtime_checkable

from google.protobuf.message import Message

from services.client import Client, Journal, Response, Seat
from services.kit.game import AnyGame
from tortuga.play.v1.match_pb2 import Outcome

_NAMES = ("Anne", "Mary", "Edward", "Grace", "Henry", "Jeanne", "Bart", "Sayyida", "Ching", "Olivier")


_CANCEL_AGAIN_SECONDS = 3.0


@runtime_checkable
class Fills(Protocol):
    """Rules that can fill in their templates from what a seat sees."""

    def fill(self, options: Any, view: Any, template: Any, luck: Random) -> Any:
        """A random legal action made of *template*, for the seat whose view it is."""
        ...


@dataclass(frozen=True)
class Plan:
    """Which matches are to be played: of each game as many as it says with each number of seats."""

    games: Sequence[AnyGame]
    matches_per_size: int
    seed: int
    pace: float = 0.0
    """Seconds for which a player thinks, on average."""

    @classmethod
    def of(cls, games: Sequence[AnyGame], matches_per_size: int, seed: int | None, pace: float = 0.0) -> Plan:
        """A plan; without a *seed* its choices are new ones."""
        return cls(games, matches_per_size, secrets.randbelow(1 << 32) if seed is None else seed, pace)

    @property
    def sizes(self) -> Sequence[tuple[AnyGame, int]]:
        """Every game with every number of seats that it has."""
        bounds = ((game, game.description.min_seats, game.description.max_seats) for game in self.games)
        return [(game, seats) for game, least, most in bounds for seats in range(least, most + 1)]

    @property
    def matches(self) -> int:
        """How many matches."""
        return len(self.sizes) * self.matches_per_size

    @property
    def players(self) -> int:
        """How many players."""
        return sum(seats for _, seats in self.sizes) * self.matches_per_size


@dataclass
class Played:
    """One match as its players saw it. *failures* are codes and errors; without any, all is well."""

    game: str
    match_id: str
    seats: int
    actions: int = 0
    seconds: float = 0.0
    outcome: Outcome | None = None
    names: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


async def play_all(
    address: str,
    plan: Plan,
    *,
    seconds: float,
    ended: Callable[[], None],
    journal: Callable[[int], Journal | None] = lambda _: None,
) -> list[Played]:
    """Play the whole plan through the gateway at *address*, all matches side by side.

    What is not over after *seconds* has failed. *ended* is called whenever a match is over. *journal* gives the hook of
    each player, by number.
    """
    players: list[_Player] = []
    for game, seats in plan.sizes:
        for index in range(seats * plan.matches_per_size):
            luck = Random(f"{plan.seed}/{game.id}/{seats}/{index}")  # noqa: S311 - choices, not chance
            name = f"{_NAMES[len(players) % len(_NAMES)]} {len(players) + 1}"
            players.append(_Player(game, seats, name, luck, pace=plan.pace, fills=index % 2 == 0))
    tasks = [asyncio.create_task(player.play(address, ended, journal(n))) for n, player in enumerate(players)]
    try:
        await asyncio.wait(tasks, timeout=seconds)
    finally:
        await _end(tasks)
    return _by_match(players)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel until all have ended: a call that breaks at the very moment of a cancellation can swallow it."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_SECONDS)


class _Player:
    """One player of one match."""

    def __init__(self, game: AnyGame, seats: int, name: str, luck: Random, *, pace: float, fills: bool) -> None:
        self.game, self.seats, self.name = game, seats, name
        self.match_id = ""
        self.seat = -1
        self.actions = 0
        self.began = self.ended = time.monotonic()
        self.outcome: Outcome | None = None
        self.failure = "NOT_FINISHED"
        self._luck, self._pace = luck, pace
        self._fill = game.rules.fill if fills and isinstance(game.rules, Fills) else None
        self._options: Any = None
        self._view: Any = None

    async def play(self, address: str, ended: Callable[[], None], journal: Journal | None) -> None:
        """Sign in, find a match, play it to its end."""
        try:
            async with Client(address, journal=journal) as client:
                await client.sign_in_as_guest(self.name)
                self.match_id = await client.find_match(self.game.id, seats=self.seats)
                self.began = time.monotonic()
                async with client.seat(self.match_id, self.game.id) as seat:
                    await self._play_on(seat)
            self.failure = "" if self.outcome is not None else "ABORTED"
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
        self.ended = time.monotonic()
        if self.seat == 0:
            ended()

    async def _play_on(self, seat: Seat) -> None:
        async for update in seat:
            self.seat = -1 if seat.seat is None else seat.seat
            if self._fill is not None and update.HasField("update"):
                self._follow(seat, update)
            if seat.decision:
                await asyncio.sleep(self._luck.uniform(0, 2 * self._pace))
                await seat.act(self._choose(update))
                self.actions += 1
        self.outcome = seat.outcome

    def _follow(self, seat: Seat, update: Response) -> None:
        """Keep the view current: a whole one now and then, events in between."""
        viewer: Any = seat.seat
        if update.update.HasField("view"):
            self._options = self.game.wire.read_options(seat.match.options)
            self._view = self.game.wire.read_view(update.update, viewer)
        else:
            events = self.game.wire.read_events(update.update)
            self._view = self.game.rules.follow(self._view, events, viewer)

    def _choose(self, update: Response) -> Message:
        """One of the legal actions, each as likely as any other."""
        ready: Sequence[Message] = update.update.legal
        if self._fill is None:
            return self._luck.choice(ready)
        choice = self._luck.randrange(len(ready) + len(update.update.templates))
        if choice < len(ready):
            return ready[choice]
        template = self.game.wire.read_legal(update.update).templates[choice - len(ready)]
        action = self._fill(self._options, self._view, template, self._luck)
        return self.game.message("Action").FromString(self.game.wire.write_action(action))


def _by_match(players: Sequence[_Player]) -> list[Played]:
    """What the players saw, match by match; who found none stands alone."""
    found: dict[str, list[_Player]] = {}
    for number, player in enumerate(players):
        found.setdefault(player.match_id or f"none {number}", []).append(player)
    return [_match_of(sorted(those, key=lambda player: player.seat)) for those in found.values()]


def _match_of(players: Sequence[_Player]) -> Played:
    first = players[0]
    failures = [f"{player.name}: {player.failure}" for player in players if player.failure]
    if not failures and len(players) != first.seats:
        failures.append("PLAYERS_MISSING")
    if not failures and any(player.outcome != first.outcome for player in players):
        failures.append("OUTCOMES_DIFFER")
    return Played(
        game=first.game.id,
        match_id=first.match_id,
        seats=first.seats,
        actions=sum(player.actions for player in players),
        seconds=max(player.ended for player in players) - min(player.began for player in players),
        outcome=first.outcome,
        names=[player.name for player in players],
        failures=failures,
    )
