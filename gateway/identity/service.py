"""IdentityService: guests, their tokens, their names. A player is an opaque random id; the name is kept here alone."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from gateway.callers import Callers, Context
from gateway.identity.names import LONGEST_NAME, display_name
from gateway.identity.refresh import RefreshTokens
from gateway.ids import new_player_id
from gateway.matchmaking.tickets import Tickets
from gateway.store.port import GatewayStore, Player
from services.kit.clock import StoreClock
from services.kit.errors import Malformed, NotFound, NotServed
from services.kit.tokens import Keyring, Verifier
from tortuga.gateway.v1 import identity_service_pb2 as pb
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceServicer

MOST_PLAYERS = 100
"""Players that one GetPlayers may ask for."""


class Identity(IdentityServiceServicer):
    """IdentityService without sign-in from portals."""

    def __init__(
        self,
        *,
        store: GatewayStore,
        callers: Callers,
        keyring: Keyring,
        verifier: Verifier,
        clock: StoreClock,
        refresh_tokens: RefreshTokens,
        tickets: Tickets,
        seconds: int,
    ) -> None:
        """*seconds*: how long an access token is good for."""
        self._store = store
        self._callers = callers
        self._keyring = keyring
        self._verifier = verifier
        self._clock = clock
        self._refresh_tokens = refresh_tokens
        self._tickets = tickets
        self._seconds = seconds

    async def SignInAsGuest(  # noqa: N802 - gRPC's name
        self, request: pb.SignInAsGuestRequest, context: Context
    ) -> pb.SignInAsGuestResponse:
        """Make a new guest; DISPLAY_NAME_INVALID for a name that cannot be shown."""
        player = Player(new_player_id(), display_name(request.display_name), self._clock.now_ms())
        await self._store.add_player(player)
        refresh_token = await self._refresh_tokens.begin(player.player_id)
        return pb.SignInAsGuestResponse(
            player=_shown(player), tokens=await self._tokens(player.player_id, refresh_token)
        )

    async def GetPlayers(  # noqa: N802 - gRPC's name
        self, request: pb.GetPlayersRequest, context: Context
    ) -> pb.GetPlayersResponse:
        """Those of the players that are known, in the order asked for; TOO_MANY_PLAYERS with the limit."""
        await self._callers.player(context)
        if len(request.player_ids) > MOST_PLAYERS:
            raise Malformed("TOO_MANY_PLAYERS", limit=MOST_PLAYERS)
        known = await self._store.players(request.player_ids)
        asked = (known.get(player_id) for player_id in request.player_ids)
        return pb.GetPlayersResponse(players=[_shown(player) for player in asked if player is not None])

    async def RefreshTokens(  # noqa: N802 - gRPC's name
        self, request: pb.RefreshTokensRequest, context: Context
    ) -> pb.RefreshTokensResponse:
        """New tokens for a refresh token, once; REFRESH_INVALID, or REFRESH_REUSED, which revokes the sign-in."""
        player_id, refresh_token = await self._refresh_tokens.exchange(request.refresh_token)
        return pb.RefreshTokensResponse(tokens=await self._tokens(player_id, refresh_token))

    async def SetDisplayName(  # noqa: N802 - gRPC's name
        self, request: pb.SetDisplayNameRequest, context: Context
    ) -> pb.SetDisplayNameResponse:
        """Change the caller's name; DISPLAY_NAME_INVALID, also for none, or PLAYER_UNKNOWN for who was erased."""
        player_id = (await self._callers.player(context)).player_id
        name = display_name(request.display_name)
        if not name:
            raise Malformed("DISPLAY_NAME_INVALID", max=LONGEST_NAME)
        if not await self._store.rename_player(player_id, name):
            raise NotFound("PLAYER_UNKNOWN")
        return pb.SetDisplayNameResponse(player=pb.Player(player_id=player_id, display_name=name))

    async def ErasePlayer(  # noqa: N802 - gRPC's name
        self, request: pb.ErasePlayerRequest, context: Context
    ) -> pb.ErasePlayerResponse:
        """Give the caller's waiting tickets back, and forget name and sign-ins. Repeating is harmless."""
        player_id = (await self._callers.player(context)).player_id
        for ticket_id in await self._store.waiting_tickets_of(player_id):
            await self._tickets.cancel(player_id, ticket_id)
        await self._store.erase_player(player_id)
        return pb.ErasePlayerResponse()

    async def SignInWithToken(  # noqa: N802 - gRPC's name
        self, request: pb.SignInWithTokenRequest, context: Context
    ) -> pb.SignInWithTokenResponse:
        """NOT_SERVED."""
        raise NotServed("NOT_SERVED")

    async def _tokens(self, player_id: str, refresh_token: str) -> pb.Tokens:
        access = self._keyring.issue_player_token(player_id, self._seconds)
        expires_ms = (await self._verifier.verify_player(access)).expires_ms
        return pb.Tokens(
            access_token=access,
            expire_time=Timestamp(seconds=expires_ms // 1000),
            refresh_token=refresh_token,
        )


def _shown(player: Player) -> pb.Player:
    return pb.Player(player_id=player.player_id, display_name=player.display_name)
