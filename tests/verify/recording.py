"""Whole matches without processes: judged by the kit's judge, read back by the kit's `Replay`; all from one seed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, cast

from services.kit import chain, due
from services.kit.entry import KitStep
from services.kit.export import Collector, Export
from services.kit.game import AnyGame
from services.kit.judge import Judge
from services.kit.replay import replay
from services.kit.rules import Seat
from services.kit.step import GATHERING, RUNNING, Step
from services.kit.store.port import MatchStore, StoredEntry, StoredMatch
from tortuga.play.v1 import match_pb2, play_pb2

CREATED_MS = 1_796_083_200_000


class Recording:
    """A match in the making. Its log is `steps`; each method appends what the live match would."""

    def __init__(
        self,
        game: AnyGame,
        seats: int,
        name: str,
        *,
        options: Mapping[str, int] | None = None,
        spectators: match_pb2.Spectators.ValueType = match_pb2.SPECTATORS_OPEN,
    ) -> None:
        """*name* is the seed of all that is random; *options* are those that differ from the defaults."""
        self.game = game
        self.luck = Random(name)
        self.seed, self.blind_key = (_secret(f"{name}/{what}") for what in ("seed", "blind key"))
        match_id = _secret(f"{name}/match").hex()[:26]
        self.match = match_pb2.Match(
            match_id=match_id,
            game=game.id,
            rules_version=game.rules.versions[0],
            options=_complete(game, options or {}),
            seats=[match_pb2.Seat(player_id=f"p_{_secret(f'{name}/{seat}').hex()[:20]}") for seat in range(seats)],
            settings=match_pb2.MatchSettings(start_seconds=20, spectators=spectators),
            created_ms=CREATED_MS,
            commitment=chain.commitment(match_id, self.seed),
        )
        self.judge = Judge(game, self.match, self.seed, self.blind_key)
        self.first = self.judge.before_first()
        self.steps: list[Step] = []
        self.now_ms = CREATED_MS

    @property
    def last(self) -> Step:
        """How the match stands."""
        return self.steps[-1] if self.steps else self.first

    @property
    def seats(self) -> Sequence[Seat]:
        """All seats."""
        return [Seat(number) for number in range(len(self.match.seats))]

    def kit(self, kind: play_pb2.KitKind.ValueType, seat: Seat, **given: Any) -> None:
        """A player's kit action, and whatever the system owes then."""
        action_id = f"{play_pb2.KitKind.Name(kind)}-{seat}"
        self._append(self.judge.judge_kit(self.last, KitStep(kind, seat, **given), seat, action_id, self.tick()))

    def act(self, seat: Seat, action: Any) -> None:
        """A game action, and whatever the system owes then."""
        self._append(self.judge.judge_action(self.last, seat, action, f"a{len(self.steps)}", self.tick()))

    def come(self, seat: Seat) -> None:
        """The seat's player is here."""
        self.system(due.SystemAction(KitStep(play_pb2.KIT_KIND_RETURN, seat), f"return:{seat}"))

    def system(self, owed: due.SystemAction) -> None:
        """A step of the system, and whatever it owes then."""
        self._append(self.judge.judge_kit(self.last, owed.kit, None, owed.action_id, self.tick()))

    def wait(self, milliseconds: int) -> None:
        """Time passes; what is overdue then, the system does."""
        self.now_ms += milliseconds
        if (owed := due.overdue(self.last, self.match, self.now_ms)) is not None:
            self.system(owed)

    def begin(self, silent: Iterable[int] = ()) -> None:
        """All come, in some order; all but *silent* contribute, or say that they will not."""
        for seat in self.luck.sample(self.seats, len(self.seats)):
            self.come(seat)
        for seat in self.luck.sample(self.seats, len(self.seats)):
            if seat not in silent:
                self.kit(
                    play_pb2.KIT_KIND_CONTRIBUTE, seat, contribution=self.luck.randbytes(self.luck.choice([0, 32]))
                )
        if self.last.standing.state == GATHERING:
            self.wait(due.CONTRIBUTION_WAIT_MS)

    def play(self, most: int = 100_000) -> None:
        """Random legal play to the end, or for so many actions.

        Of a few choices mostly the one with the fewest words is taken: plain moves, which make matches last.
        """
        while self.last.standing.state == RUNNING and most > 0:
            seat = self.luck.choice(self.last.asked).seat
            assert self.last.game is not None
            samples = [self.last.game.sample(seat, self.luck) for _ in range(self.luck.choice([1, 4, 8]))]
            self.act(seat, min(samples, key=lambda action: str(action).count(" ")))
            most -= 1

    def tick(self) -> int:
        """A moment later, which may be the same millisecond."""
        self.now_ms += self.luck.choice([0, 1, 40, 700])
        return self.now_ms

    def export(self, player_id: str = "", game: AnyGame | None = None) -> Export:
        """What `Replay` gives *player_id* (by default a stranger) once all is over; *game* may seal something."""
        return asyncio.run(self._export(player_id, game or self.game))

    async def _export(self, player_id: str, game: AnyGame) -> Export:
        collector = Collector()
        message: Any = game.message("ReplayResponse")
        async for data in replay(cast(MatchStore, _Log(self)), game, self.match.match_id, player_id):
            collector.take(message.FromString(data))
        return collector.export()

    def _append(self, step: Step) -> None:
        self.steps.append(step)
        if (owed := due.at_once(self.last)) is not None:
            self.system(owed)


class _Log:
    """A recording as the store has it, as far as `Replay` asks."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def load(self, match_id: str) -> StoredMatch | None:
        """The match, if it is this one."""
        of = self._recording
        if match_id != of.match.match_id:
            return None
        fixed, last = of.match.SerializeToString(deterministic=True), of.last
        return StoredMatch(1, match_id, fixed, "", of.seed, of.blind_key, last.revision, last.head, last.standing.state)

    async def entries(self, row: int, after: int = 0) -> Sequence[StoredEntry]:
        """All entries behind *after*."""
        return [StoredEntry(step.revision, step.head, step.data) for step in self._recording.steps[after:]]


def changed_options(game: AnyGame) -> dict[str, int]:
    """Every option of the game at a value that is not its default."""
    changed = {}
    for option in game.description.options:
        values = [value.number for value in option.values] or [option.max, option.min]
        changed[option.name] = next(value for value in values if value != option.default_value)
    return changed


def _complete(game: AnyGame, options: Mapping[str, int]) -> bytes:
    """Bytes of the game's options, every field set, as the gateway makes them."""
    message = game.message("Options")()
    fields = message.DESCRIPTOR.fields_by_name
    for option in game.description.options:
        value = options.get(option.name, option.default_value)
        boolean = fields[option.name].cpp_type == fields[option.name].CPPTYPE_BOOL
        setattr(message, option.name, bool(value) if boolean else value)
    return message.SerializeToString(deterministic=True)


def _secret(name: str) -> bytes:
    return hashlib.sha256(f"tests/verify/{name}".encode()).digest()
