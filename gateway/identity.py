"""Who a player is: guests for now. A player is an opaque random id; the display name is kept here and nowhere else."""

from __future__ import annotations

import unicodedata

from google.protobuf.timestamp_pb2 import Timestamp

from gateway.callers import Callers, Context
from gateway.ids import new_player_id
from gateway.store.port import Player, PlayerStore
from services.kit.clock import StoreClock
from services.kit.errors import Malformed, NotServed
from services.kit.tokens import Keyring, Verifier
from tortuga.gateway.v1 import identity_service_pb2 as pb
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceServicer

LONGEST_NAME = 24
"""Characters of a display name at most, after normalisation."""

MOST_PLAYERS = 100
"""Players that one GetPlayers may ask for."""

_JOINERS = "\u200c\u200d"
"""Zero-width joiners: some scripts and many emoji cannot be written without them."""

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that no name may hold: controls, reorderings, surrogates, line ends, the unassigned."""


def display_name(wished: str) -> str:
    """*wished* as it is kept and shown: composed (NFC), without space at the ends. Empty means none.

    Raises:
        Malformed: DISPLAY_NAME_INVALID with max: too long, a character that does not show, or nothing that does.
    """
    name = unicodedata.normalize("NFC", wished).strip()
    if len(name) > LONGEST_NAME or any(map(_hidden, name)) or (name and not name.strip(_JOINERS)):
        raise Malformed("DISPLAY_NAME_INVALID", max=LONGEST_NAME)
    return name


def _hidden(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE and char not in _JOINERS


class Identity(IdentityServiceServicer):
    """IdentityService: makes guests, reads display names."""

    def __init__(
        self,
        *,
        store: PlayerStore,
        callers: Callers,
        keyring: Keyring,
        verifier: Verifier,
        clock: StoreClock,
        seconds: int,
    ) -> None:
        """*seconds*: how long an access token is good for."""
        self._store = store
        self._callers = callers
        self._keyring = keyring
        self._verifier = verifier
        self._clock = clock
        self._seconds = seconds

    async def SignInAsGuest(  # noqa: N802 - gRPC's name
        self, request: pb.SignInAsGuestRequest, context: Context
    ) -> pb.SignInAsGuestResponse:
        """Make a new guest; DISPLAY_NAME_INVALID for a name that cannot be shown."""
        player = Player(new_player_id(), display_name(request.display_name), self._clock.now_ms())
        await self._store.add_player(player)
        token = self._keyring.issue_player_token(player.player_id, self._seconds)
        verified = await self._verifier.verify_player(token)
        return pb.SignInAsGuestResponse(
            player=_shown(player),
            tokens=pb.Tokens(access_token=token, expire_time=Timestamp(seconds=verified.expires_ms // 1000)),
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

    async def SignInWithToken(  # noqa: N802 - gRPC's name
        self, request: pb.SignInWithTokenRequest, context: Context
    ) -> pb.SignInWithTokenResponse:
        """NOT_SERVED."""
        raise NotServed("NOT_SERVED")

    async def RefreshTokens(  # noqa: N802 - gRPC's name
        self, request: pb.RefreshTokensRequest, context: Context
    ) -> pb.RefreshTokensResponse:
        """NOT_SERVED."""
        raise NotServed("NOT_SERVED")

    async def SetDisplayName(  # noqa: N802 - gRPC's name
        self, request: pb.SetDisplayNameRequest, context: Context
    ) -> pb.SetDisplayNameResponse:
        """NOT_SERVED."""
        raise NotServed("NOT_SERVED")

    async def ErasePlayer(  # noqa: N802 - gRPC's name
        self, request: pb.ErasePlayerRequest, context: Context
    ) -> pb.ErasePlayerResponse:
        """NOT_SERVED."""
        raise NotServed("NOT_SERVED")


def _shown(player: Player) -> pb.Player:
    return pb.Player(player_id=player.player_id, display_name=player.display_name)
