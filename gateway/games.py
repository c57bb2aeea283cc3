"""Games as the gateway knows them: from what their pods say of themselves, never by name.

`ServedGame` is one game's description with a descriptor pool of its own, so that two games may hold files of the same
name. `Games` is what the platform services ask of the links.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from google.protobuf.descriptor import Descriptor, FieldDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from gateway.changes import Changes
from services.kit.shell.reflection import pool_of
from tortuga.host.v1.host_service_pb2 import CreateMatchRequest, DescribeGameResponse, Result
from tortuga.play.v1.game_pb2 import Game, Option, OptionType, Variant
from tortuga.play.v1.match_pb2 import Match

_ID = re.compile(r"[a-z][a-z0-9_]{0,31}")
_MOST_SEATS = 256
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
}
_KINDS = {
    OptionType.OPTION_TYPE_BOOL: {FieldDescriptor.CPPTYPE_BOOL},
    OptionType.OPTION_TYPE_INT: _INTEGERS,
    OptionType.OPTION_TYPE_ENUM: {FieldDescriptor.CPPTYPE_ENUM},
}


class BrokenDescription(ValueError):
    """A pod describes its game in a way that contradicts itself: a fault of the game, never of a player."""

    def __init__(self, reason: str, **params: object) -> None:
        super().__init__(f"{reason} {params}" if params else reason)
        self.reason = reason
        self.params = {name: str(value) for name, value in params.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ServedGame:
    """One game: its description, and its contract in a descriptor pool of its own. Made by `ServedGame.read`."""

    description: Game
    """As the pod gave it. Not to be changed."""
    pool: DescriptorPool
    """The game's service file and all that it imports."""
    service: ServiceDescriptor
    """Its typed service, with Play, Act, Watch and Replay."""
    options: Descriptor
    """Its options message."""
    digest: bytes
    """SHA-256 of what the pod said; equal for pods that say the same."""
    variants: Mapping[str, Variant]
    """Variants by id, the standard game first; empty if the game names none."""
    described: Mapping[str, Option]
    """Options by field name, in the order in which to show them."""
    complete: Mapping[str, Message] = field(repr=False)
    """Per variant ("" if there are none) the options message with every option set. Not to be changed."""

    @property
    def id(self) -> str:
        """The game's id."""
        return self.description.game

    @property
    def service_name(self) -> str:
        """Full name of its typed service."""
        return self.description.service

    @classmethod
    def read(cls, response: DescribeGameResponse) -> ServedGame:
        """Read what `DescribeGame` answered, and check that it agrees with itself.

        Raises:
            BrokenDescription: the descriptors lack something, or an option, a default or a variant does not fit.
        """
        game = response.game
        if not _ID.fullmatch(game.game):
            raise BrokenDescription("GAME_ID")
        if not 1 <= game.min_seats <= game.max_seats <= _MOST_SEATS:
            raise BrokenDescription("SEATS", game=game.game)
        pool = _pool_of(response)
        service, options = _contract(pool, game)
        described = {option.name: option for option in game.options}
        for option in game.options:
            _check_option(option, options)
        variants = {variant.variant: variant for variant in game.variants}
        if len(variants) != len(game.variants) or "" in variants or len(described) != len(game.options):
            raise BrokenDescription("NAMED_TWICE", game=game.game)
        standard = _defaults(game, options)
        served = cls(
            description=game,
            pool=pool,
            service=service,
            options=options,
            digest=hashlib.sha256(response.SerializeToString(deterministic=True)).digest(),
            variants=variants,
            described=described,
            complete={name: _varied(standard, variant, described) for name, variant in variants.items()}
            or {"": standard},
        )
        for variant in game.variants:
            fewest, most = served.seats(variant.variant)
            if not 1 <= fewest <= most <= _MOST_SEATS:
                raise BrokenDescription("SEATS", game=game.game, variant=variant.variant)
        return served

    def seats(self, variant: str) -> tuple[int, int]:
        """Fewest and most seats of *variant*."""
        own = self.variants.get(variant, Variant())
        return own.min_seats or self.description.min_seats, own.max_seats or self.description.max_seats


class Games(Protocol):
    """The games behind the gateway, as the platform services need them. The links implement it."""

    @property
    def changes(self) -> Changes:
        """Announced after `served()` has begun to answer differently: a game became usable, unusable, or another."""
        ...

    def served(self) -> Sequence[ServedGame]:
        """Games that at least one usable pod serves, by id. Never waits."""
        ...

    def find(self, game_id: str) -> ServedGame:
        """The game with this id, as last described; it may have no usable pod at the moment (`served` knows).

        Raises:
            NotFound: GAME_UNKNOWN: no pod of such a game is known.
            Unavailable: NO_SERVICE: pods are known, but none has described the game yet.
        """
        ...

    async def create_match(self, game_id: str, request: CreateMatchRequest) -> Match:
        """Have a usable pod make (or with `validate_only` check) a match, by `HostService.CreateMatch`.

        Repeating it with the same match id is harmless and gives the same match.

        Raises:
            Unavailable: NO_SERVICE: no usable pod; or the call broke and may be repeated.
            DomainError: the game refuses, with its own reason and parameters (Malformed, Refusal …): repeating is vain.
        """
        ...

    async def list_results(self, game_id: str, limit: int) -> Sequence[Result]:
        """Results of the game's matches that nobody has acknowledged, oldest first, at most *limit* (1 to 500).

        Any usable pod is asked: they share their store.

        Raises:
            Unavailable: NO_SERVICE: no usable pod; or the call broke and may be repeated.
            DomainError: the pod refuses.
        """
        ...

    async def acknowledge_results(self, game_id: str, match_ids: Sequence[str]) -> None:
        """Tell the game that the results of these matches, at most 500, are kept. Repeating is harmless.

        Raises:
            Unavailable, DomainError: as `list_results`.
        """
        ...


def is_served(games: Games, game_id: str) -> bool:
    """Whether at least one usable pod serves the game now."""
    return any(served.id == game_id for served in games.served())


def within(option: Option, value: int) -> bool:
    """Whether *value* is one that *option* may take."""
    if option.type == OptionType.OPTION_TYPE_ENUM:
        return any(value == named.number for named in option.values)
    fewest, most = bounds(option)
    return fewest <= value <= most


def bounds(option: Option) -> tuple[int, int]:
    """Smallest and largest value that *option* may take; an enum may have gaps between them."""
    if option.type == OptionType.OPTION_TYPE_BOOL:
        return 0, 1
    if option.type == OptionType.OPTION_TYPE_ENUM:
        numbers = [named.number for named in option.values]
        return min(numbers), max(numbers)
    return option.min, option.max


def _pool_of(response: DescribeGameResponse) -> DescriptorPool:
    try:
        return pool_of(response.descriptors)
    except ValueError:
        raise BrokenDescription("DESCRIPTORS", game=response.game.game) from None


def _contract(pool: DescriptorPool, game: Game) -> tuple[ServiceDescriptor, Descriptor]:
    package = game.service.rpartition(".")[0]
    try:
        return pool.FindServiceByName(game.service), pool.FindMessageTypeByName(f"{package}.Options")
    except KeyError:
        raise BrokenDescription("SERVICE", game=game.game) from None


def _check_option(option: Option, options: Descriptor) -> None:
    found = options.fields_by_number.get(option.number)
    if (
        found is None
        or found.name != option.name
        or found.is_repeated
        or not found.has_presence
        or found.cpp_type not in _KINDS.get(option.type, ())
        or (option.type == OptionType.OPTION_TYPE_ENUM and not option.values)
        or not within(option, option.default_value)
    ):
        raise BrokenDescription("OPTION", option=option.name, number=option.number)


def _defaults(game: Game, options: Descriptor) -> Message:
    message = GetMessageClass(options)()
    try:
        for option in game.options:
            value = option.default_value
            setattr(message, option.name, bool(value) if option.type == OptionType.OPTION_TYPE_BOOL else value)
    except ValueError:  # larger than the field's own type
        raise BrokenDescription("DEFAULT", game=game.game) from None
    return message


def _varied(standard: Message, variant: Variant, described: Mapping[str, Option]) -> Message:
    message = type(standard)()
    try:
        message.MergeFromString(variant.options)
    except DecodeError:
        raise BrokenDescription("VARIANT", variant=variant.variant) from None
    for set_field, value in message.ListFields():
        option = described.get(set_field.name)
        if option is None or not within(option, int(value)):
            raise BrokenDescription("VARIANT", variant=variant.variant, option=set_field.name)
    full = type(standard)()
    full.CopyFrom(standard)
    full.MergeFrom(message)
    return full
