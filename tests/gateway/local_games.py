"""Games without pods: the `Games` of a test, over a real contract. What a pod may do wrong, it does when told to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from gateway.changes import Changes
from gateway.games import ServedGame
from services.kit.errors import DomainError, Malformed, NotFound, Unavailable
from tortuga.corsari.v1 import corsari_service_pb2
from tortuga.corsari.v1.corsari_pb2 import FinalTie, Options, VoidRedeal
from tortuga.host.v1.host_service_pb2 import CreateMatchRequest, DescribeGameResponse, Result
from tortuga.play.v1.game_pb2 import Game, Option, OptionType, OptionValue, Variant
from tortuga.play.v1.match_pb2 import Match, MatchState, Outcome, Place

GAME = "corsari"
CONTRADICTION = Options(stall_limit=8, max_void=20).SerializeToString()
"""Options that are each in range and that the game below refuses together."""


def describe(**changes: object) -> DescribeGameResponse:
    """What a pod answers: three of the game's options, two variants. *changes* replace fields of the description."""
    fields: dict[str, object] = {
        "game": GAME,
        "service": "tortuga.corsari.v1.CorsariService",
        "rules_versions": ["1"],
        "min_seats": 2,
        "max_seats": 4,
        "options": [
            enum(1, "void_redeal", VoidRedeal, VoidRedeal.VOID_REDEAL_NEXT),
            Option(number=3, name="stall_limit", type=OptionType.OPTION_TYPE_INT, default_value=0, min=0, max=64),
            Option(number=4, name="no_null_discard", type=OptionType.OPTION_TYPE_BOOL),
            enum(9, "final_tie", FinalTie, FinalTie.FINAL_TIE_SHARED),
            Option(number=11, name="max_void", type=OptionType.OPTION_TYPE_INT, default_value=5, min=1, max=20),
        ],
        "variants": [
            Variant(variant="standard"),
            Variant(variant="quick", options=Options(max_void=1).SerializeToString(), min_seats=3),
        ],
    }
    game = Game(**{**fields, **changes})  # type: ignore[arg-type]  # fields of the message, as named above
    return DescribeGameResponse(game=game, descriptors=files_of(corsari_service_pb2.DESCRIPTOR))


def enum(number: int, name: str, kind: type[VoidRedeal] | type[FinalTie], default: int) -> Option:
    """An option with all values of its enum but UNSPECIFIED."""
    prefix = f"{name.upper()}_"
    values = [OptionValue(number=n, name=text.removeprefix(prefix).lower()) for text, n in kind.items() if n]
    return Option(number=number, name=name, type=OptionType.OPTION_TYPE_ENUM, default_value=default, values=values)


def files_of(file: FileDescriptor) -> FileDescriptorSet:
    """*file* and all it imports, dependencies first."""
    found: dict[str, FileDescriptorProto] = {}

    def add(wanted: FileDescriptor) -> None:
        for imported in wanted.dependencies:
            add(imported)
        if wanted.name not in found:
            found[wanted.name] = FileDescriptorProto()
            wanted.CopyToProto(found[wanted.name])

    add(file)
    return FileDescriptorSet(file=found.values())


class LocalGames:
    """One game whose pod is this object. It is `usable`, away, slow, or contrary, as the test says."""

    def __init__(self, description: DescribeGameResponse | None = None) -> None:
        self.game = ServedGame.read(description or describe())
        self.changes = Changes()
        self.usable = True
        self.matches: dict[str, Match] = {}
        self.made = Counter[str]()
        """How often each match was asked for."""
        self.checked = 0
        """How many wishes were asked about."""
        self.failures: list[Exception] = []
        """Raised one by one by the next calls that make a match."""
        self.refuse_checks: DomainError | None = None
        """Raised by every call that only checks a match."""
        self.hold_checks = asyncio.Event()
        """Cleared: calls that check a match wait."""
        self.hold_checks.set()
        self.unknown = False
        """Nothing is known of the game."""
        self.open = asyncio.Event()
        """Cleared: calls that make a match wait."""
        self.open.set()
        self.results: dict[str, Result] = {}
        """Not acknowledged yet, by match."""
        self.listed: list[float] = []
        """When results were asked for, by the loop's clock."""
        self.result_failures: list[Exception] = []
        """Raised one by one by the next calls about results."""
        self.hold_results = asyncio.Event()
        """Cleared: calls that acknowledge results wait."""
        self.hold_results.set()

    def come(self) -> None:
        """The pod is usable from now on."""
        self.usable = True
        self.changes.announce()

    def go(self) -> None:
        """The pod is away from now on."""
        self.usable = False
        self.changes.announce()

    def served(self) -> Sequence[ServedGame]:
        """The game, if its pod is usable."""
        return [self.game] if self.usable else []

    def find(self, game_id: str) -> ServedGame:
        """The game, by its id alone."""
        if self.unknown or game_id != self.game.id:
            raise NotFound("GAME_UNKNOWN")
        return self.game

    async def create_match(self, game_id: str, request: CreateMatchRequest) -> Match:
        """Make a match once; refuse CONTRADICTION as the rules of a game would."""
        assert self.find(game_id) is self.game
        if not self.usable:
            raise Unavailable("NO_SERVICE")
        options = Options.FromString(request.match.options)
        if options.stall_limit == 8 and options.max_void == 20:
            raise Malformed("OPTIONS_CONTRADICT")
        if request.validate_only:
            self.checked += 1
            await self.hold_checks.wait()
            if self.refuse_checks is not None:
                raise self.refuse_checks
            return request.match
        self.made[request.match.match_id] += 1
        await self.open.wait()
        if self.failures:
            raise self.failures.pop(0)
        made = self.matches.setdefault(request.match.match_id, Match())
        if not made.match_id:
            made.CopyFrom(request.match)
            made.rules_version = "1"
            made.created_ms = 1_700_000_000_000 + len(self.matches)
            made.commitment = bytes(32)
        return made

    def refuse_next(self, error: DomainError) -> None:
        """Have the next match that is to be made refused with *error*."""
        self.failures.append(error)

    async def list_results(self, game_id: str, limit: int) -> Sequence[Result]:
        """Results, oldest first."""
        self.listed.append(asyncio.get_running_loop().time())
        self._about_results(game_id)
        return list(self.results.values())[:limit]

    async def acknowledge_results(self, game_id: str, match_ids: Sequence[str]) -> None:
        """Forget results."""
        await self.hold_results.wait()
        self._about_results(game_id)
        for match_id in match_ids:
            self.results.pop(match_id, None)

    def _about_results(self, game_id: str) -> None:
        assert self.find(game_id) is self.game
        if not self.usable:
            raise Unavailable("NO_SERVICE")
        if self.result_failures:
            raise self.result_failures.pop(0)

    def end(self, match: Match, state: MatchState.ValueType = MatchState.MATCH_STATE_ENDED) -> Result:
        """The match is over, as of now: seat 0 has won, or nobody came."""
        result = Result(match=match, state=state, ended_ms=match.created_ms + 60_500)
        if state == MatchState.MATCH_STATE_ENDED:
            places = [Place(seat=seat, rank=seat + 1, points=-seat) for seat in range(len(match.seats))]
            result.outcome.CopyFrom(Outcome(reason="finished", places=places))
        else:
            result.abort_reason = "NO_SHOW"
            result.absent.append(1)
        self.results[match.match_id] = result
        return result
