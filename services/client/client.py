"""The client: one player's way into the platform."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import uuid
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Self

import grpc
from google.protobuf.message import Message

from services.client.connection import Connection, Patience
from services.client.errors import Refused, TicketEnded
from services.client.profile import Profile
from services.client.seat import Journal, Seat
from services.client.tables import Tables, wish_of
from services.client.tokens import Tokens, expiry_of
from services.kit.game import load_game
from tortuga.bots.v1 import bot_service_pb2
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceStub
from tortuga.gateway.v1 import catalog_service_pb2, identity_service_pb2
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceStub
from tortuga.play.v1 import game_pb2, match_pb2

Bots = Literal["never", "at_once"] | float | None
"""When bots fill empty seats: never, at once, or after so many seconds; None leaves it to the platform."""

_LOST = {"REFRESH_INVALID", "REFRESH_REUSED"}


class Suggestion(NamedTuple):
    """One piece of a bot's advice."""

    action: Message
    """The game's `Action`, ready for `Seat.act`."""
    worth: float
    """On the bot's own scale; only the order is comparable."""
    reason: str
    """A code, for a text; may be empty."""


class Client(Connection):
    """One player's connections to the gateway, for any number of matches side by side; to be used in `async with`.

    *target* is "host:port", by default the environment's TORTUGA_TARGET, else 127.0.0.1:7070. *token* and
    *refresh_token* are those of an earlier sign-in, to be that player again; *profile* is a saved sign-in, which is
    kept up to date. *credentials* None means plain text. Calls, actions, streams bear a platform that is away for
    *patience* seconds. *journal* is told what goes over the matches' streams. With a refresh token the access token is
    renewed by itself, on open streams too. `player` is who has signed in, `tables` are the tables.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str = "",
        refresh_token: str = "",
        profile: Profile | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        patience: float = 60.0,
        journal: Journal | None = None,
    ) -> None:
        address = target or os.environ.get("TORTUGA_TARGET") or "127.0.0.1:7070"
        self._target, self._profile, self._journal = address, profile, journal
        self.player: identity_service_pb2.Player | None = None
        if profile is not None and profile.target == address and profile.player_id and not token:
            token, refresh_token = profile.access_token, profile.refresh_token
            self.player = identity_service_pb2.Player(player_id=profile.player_id, display_name=profile.display_name)
        super().__init__(address, credentials, token, patience, refresh_token=refresh_token, keep=self._kept)
        self.tables = Tables(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.calls.close()
        await self.streams.close()

    @property
    def refresh_token(self) -> str:
        """The newest refresh token; empty without one, and once it was refused."""
        return self.tokens.refresh

    @property
    def expires(self) -> int:
        """When the access token expires, in seconds since 1970; 0 if that is not known."""
        return expiry_of(self.token)

    async def sign_in_as_guest(self, name: str = "") -> identity_service_pb2.Player:
        """Become a new guest called *name*, 1 to 24 characters, or without a name."""
        request = identity_service_pb2.SignInAsGuestRequest(display_name=name)
        answer = await self.call_unnamed(IdentityServiceStub(self.calls).SignInAsGuest, request)
        self.player = answer.player
        self.tokens.take(answer.tokens)
        return answer.player

    async def sign_in(self, name: str = "") -> identity_service_pb2.Player:
        """Be the profile's player again if that sign-in still holds, else a new guest called *name*."""
        if self.player is not None and self.refresh_token:
            try:
                await self.refresh()
            except Refused as refused:
                if refused.reason not in _LOST:
                    raise
            else:
                [*known] = await self.players([self.player.player_id])
                if known:
                    self._named(known[0])
                    return known[0]
        return await self.sign_in_as_guest(name)

    async def refresh(self) -> None:
        """Exchange the refresh token for new tokens now. Raises Refused (REFRESH_INVALID, REFRESH_REUSED)."""
        await self.tokens.exchange(self.token)

    async def players(self, player_ids: Sequence[str]) -> Sequence[identity_service_pb2.Player]:
        """Those of the players that are known, at most 100, in the order asked for."""
        request = identity_service_pb2.GetPlayersRequest(player_ids=player_ids)
        return (await self.call(IdentityServiceStub(self.calls).GetPlayers, request)).players

    async def set_display_name(self, name: str) -> identity_service_pb2.Player:
        """Be called *name*, 1 to 24 characters. Raises Refused (DISPLAY_NAME_INVALID)."""
        request = identity_service_pb2.SetDisplayNameRequest(display_name=name)
        player = (await self.call(IdentityServiceStub(self.calls).SetDisplayName, request)).player
        self._named(player)
        return player

    async def erase(self) -> None:
        """Have the platform forget the name and the sign-in, and forget them here."""
        await self.call(IdentityServiceStub(self.calls).ErasePlayer, identity_service_pb2.ErasePlayerRequest())
        self.player, self.tokens.access, self.tokens.refresh = None, "", ""
        if self._profile is not None:
            self._profile.forget()

    async def games(self) -> Sequence[game_pb2.Game]:
        """The games that are served now, by id."""
        return (await self.call(CatalogServiceStub(self.calls).ListGames, catalog_service_pb2.ListGamesRequest())).games

    async def find_match(
        self,
        game: str,
        *,
        seats: int = 0,
        variant: str = "",
        options: Message | bytes = b"",
        settings: match_pb2.MatchSettings | None = None,
        bots: Bots = None,
        news: Callable[[tickets.Ticket], None] | None = None,
    ) -> str:
        """Take a ticket and wait for others with an equal wish; returns the match's id. Cancelling gives it back.

        *seats* 0: as few as the game allows. *options*: the game's `Options`, only what differs from the variant's.
        *news* is told how the ticket stands, at once and at every change: its place, since when and why it waits.
        Raises Refused, Unreachable, TicketEnded.
        """
        wish = wish_of(game, seats=seats, variant=variant, options=options, settings=settings)
        request = tickets.CreateTicketRequest(request_id=uuid.uuid4().hex, wish=wish)
        _ask_for_bots(request, bots)
        service = MatchmakingServiceStub(self.calls)
        ticket = (await self.call(service.CreateTicket, request)).ticket
        try:
            return await self._assigned(ticket.ticket_id, news)
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):  # a ticket that nobody watches expires anyway
                async with asyncio.timeout(2):
                    await self.call(service.CancelTicket, tickets.CancelTicketRequest(ticket_id=ticket.ticket_id))
            raise

    async def suggest(self, seat: Seat, *, limit: int = 3, bot: str = "", budget_ms: int = 0) -> list[Suggestion]:
        """What a bot would do in the position of *seat*, best first; at most *limit*, 1 to 20.

        *bot*: a level of the game, by default its best. *budget_ms*: how long it may think, 0 for the platform's usual.
        Raises Refused (NO_BOTS, NOTHING_LEGAL, TOO_MANY_SUGGESTIONS) or Unreachable.
        """
        whole = await seat.position()
        position = bot_service_pb2.Position(
            game=seat.game.id,
            rules_version=seat.match.rules_version,
            options=seat.match.options,
            seat=seat.seat or 0,
            update=whole.update.SerializeToString(),
            bot=bot,
            seed=secrets.token_bytes(32),
            budget_ms=budget_ms,
        )
        request = bot_service_pb2.SuggestRequest(position=position, limit=limit)
        found = (await self.call(BotServiceStub(self.calls).Suggest, request)).suggestions
        read = seat.game.message("Action").FromString
        return [Suggestion(read(one.action), one.worth, one.reason) for one in found]

    def seat(self, match_id: str, game: str) -> Seat:
        """The own seat at a match, to be used in `async with`. Raises UnknownGame if no package offers *game*."""
        return Seat(self, load_game(game), match_id, self._journal, spectate=False)

    def watch(self, match_id: str, game: str) -> Seat:
        """A match as a spectator sees it, to be used in `async with`. Raises UnknownGame."""
        return Seat(self, load_game(game), match_id, self._journal, spectate=True)

    async def _assigned(self, ticket_id: str, news: Callable[[tickets.Ticket], None] | None) -> str:
        watch = MatchmakingServiceStub(self.streams).WatchTicket
        patience = Patience(self.patience)
        while True:
            cause = None
            await self.fresh()
            token = self.token
            try:
                async for answer in watch(tickets.WatchTicketRequest(ticket_id=ticket_id), metadata=self.metadata):
                    patience.alive(progress=True)
                    if news is not None:
                        news(answer.ticket)
                    if answer.ticket.state == tickets.TICKET_STATE_ASSIGNED:
                        return answer.ticket.match_id
                    if answer.ticket.state != tickets.TICKET_STATE_WAITING:
                        raise TicketEnded(tickets.TicketState.Name(answer.ticket.state).removeprefix("TICKET_STATE_"))
            except grpc.aio.AioRpcError as error:
                cause = Refused.by_status(error)
                if not cause.broken and not await self.replaced(cause, token):
                    raise cause from None
            await patience.wait(cause)

    def _named(self, player: identity_service_pb2.Player) -> None:
        self.player = player
        self._kept(self.tokens)

    def _kept(self, tokens: Tokens) -> None:
        if (profile := self._profile) is None or self.player is None:
            return
        profile.target = self._target
        profile.player_id, profile.display_name = self.player.player_id, self.player.display_name
        profile.access_token, profile.refresh_token = tokens.access, tokens.refresh
        profile.save()


def _ask_for_bots(request: tickets.CreateTicketRequest, bots: Bots) -> None:
    if bots == "never":
        request.bots = tickets.BOTS_POLICY_NEVER
    elif bots == "at_once":
        request.bots = tickets.BOTS_POLICY_AT_ONCE
    elif isinstance(bots, int | float):
        request.bots = tickets.BOTS_POLICY_AFTER
        request.bots_after.FromMilliseconds(round(bots * 1000))
