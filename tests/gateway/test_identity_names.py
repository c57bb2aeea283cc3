"""A player's own name, and being forgotten."""

from __future__ import annotations

import grpc

from tests.gateway.harness import Gateway, Refused, TicketState, refused
from tortuga.gateway.v1 import identity_service_pb2 as identity


async def _names(gateway: Gateway, reader: tuple[tuple[str, str], ...], *player_ids: str) -> list[str]:
    request = identity.GetPlayersRequest(player_ids=player_ids)
    return [p.display_name for p in (await gateway.identity.GetPlayers(request, metadata=reader)).players]


async def test_a_name_can_be_changed(gateway: Gateway) -> None:
    """The new one is normalised, answered, and what others read; only the caller's changes."""
    anna, bo = await gateway.guest("Anna"), await gateway.guest("Bo")
    request = identity.SetDisplayNameRequest(display_name="  Jose\u0301   Gaspar ")
    answer = await gateway.identity.SetDisplayName(request, metadata=anna.metadata)
    assert answer.player == identity.Player(player_id=anna.player_id, display_name="José Gaspar")
    assert await _names(gateway, bo.metadata, anna.player_id, bo.player_id) == ["José Gaspar", "Bo"]


async def test_a_bad_name_changes_nothing(gateway: Gateway) -> None:
    """Refused as at sign-in, and an empty one too."""
    anna = await gateway.guest("Anna")
    for wished in ("x" * 25, "a\u202eb", "", "  "):
        request = identity.SetDisplayNameRequest(display_name=wished)
        assert await refused(gateway.identity.SetDisplayName(request, metadata=anna.metadata)) == Refused(
            grpc.StatusCode.INVALID_ARGUMENT, "DISPLAY_NAME_INVALID", {"max": "24"}
        )
    assert await _names(gateway, anna.metadata, anna.player_id) == ["Anna"]


async def test_an_erased_player_is_forgotten(gateway: Gateway) -> None:
    """Name and sign-in are gone, waiting tickets are given back; a repetition is harmless, a new name refused."""
    other = await gateway.guest()
    signed = await gateway.identity.SignInAsGuest(identity.SignInAsGuestRequest(display_name="Anna"))
    anna = (await gateway.guest())._replace(
        player_id=signed.player.player_id, metadata=(("authorization", f"Bearer {signed.tokens.access_token}"),)
    )
    ticket = await gateway.take(anna)
    for _ in range(2):
        await gateway.identity.ErasePlayer(identity.ErasePlayerRequest(), metadata=anna.metadata)
    assert await _names(gateway, other.metadata, anna.player_id) == []
    assert (await gateway.look(anna, ticket)).state == TicketState.TICKET_STATE_CANCELLED
    spent = identity.RefreshTokensRequest(refresh_token=signed.tokens.refresh_token)
    assert (await refused(gateway.identity.RefreshTokens(spent))).reason == "REFRESH_INVALID"
    again = identity.SetDisplayNameRequest(display_name="Anna")
    assert await refused(gateway.identity.SetDisplayName(again, metadata=anna.metadata)) == Refused(
        grpc.StatusCode.NOT_FOUND, "PLAYER_UNKNOWN", {}
    )


async def test_own_affairs_need_a_token(gateway: Gateway) -> None:
    """Name and erasure are the caller's; a refresh token needs no other."""
    missing = Refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING", {})
    assert await refused(gateway.identity.SetDisplayName(identity.SetDisplayNameRequest())) == missing
    assert await refused(gateway.identity.ErasePlayer(identity.ErasePlayerRequest())) == missing
