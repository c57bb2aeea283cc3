"""Guests, names, tokens; and the calls that say honestly that they are not served."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import grpc
import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.identity.names import LONGEST_NAME, display_name
from gateway.identity.service import MOST_PLAYERS
from services.kit.errors import Malformed
from tests.gateway.harness import Gateway, Refused, a_wish, refused, running
from tortuga.gateway.v1 import catalog_service_pb2 as catalog
from tortuga.gateway.v1 import history_service_pb2 as history
from tortuga.gateway.v1 import identity_service_pb2 as identity
from tortuga.gateway.v1 import matchmaking_service_pb2 as matchmaking
from tortuga.gateway.v1 import table_service_pb2 as tables

UNIMPLEMENTED = Refused(grpc.StatusCode.UNIMPLEMENTED, "NOT_SERVED", {})


async def test_a_guest_gets_an_id_and_a_token(gateway: Gateway) -> None:
    """Opaque and new each time; the token is EdDSA, names the player, and says when it expires: in 15 minutes."""
    answer = await gateway.identity.SignInAsGuest(identity.SignInAsGuestRequest(display_name="Anne Bonny"))
    other = await gateway.identity.SignInAsGuest(identity.SignInAsGuestRequest())
    assert re.fullmatch(r"p_[a-z2-7]{26}", answer.player.player_id)
    assert answer.player.player_id != other.player.player_id
    assert (answer.player.display_name, other.player.display_name) == ("Anne Bonny", "")
    token = answer.tokens.access_token
    assert jwt.get_unverified_header(token)["alg"] == "EdDSA"
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["sub"], claims["aud"]) == (answer.player.player_id, "tortuga")
    assert claims["exp"] == answer.tokens.expire_time.seconds
    assert abs(claims["exp"] - time.time() - 900) < 60
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", answer.tokens.refresh_token)


async def test_players_are_read_by_id(gateway: Gateway) -> None:
    """In the order asked for, unknown ones left out, also after a repetition; names as they were kept."""
    anna, bo = await gateway.guest("  Anna "), await gateway.guest()
    request = identity.GetPlayersRequest(player_ids=[bo.player_id, "p_nobody", anna.player_id, bo.player_id])
    answer = await gateway.identity.GetPlayers(request, metadata=anna.metadata)
    assert [(player.player_id, player.display_name) for player in answer.players] == [
        (bo.player_id, ""),
        (anna.player_id, "Anna"),
        (bo.player_id, ""),
    ]


async def test_a_hundred_players_at_most(gateway: Gateway) -> None:
    """One more is refused with the limit."""
    guest = await gateway.guest()
    ids = ["p_x"] * MOST_PLAYERS
    assert not (
        await gateway.identity.GetPlayers(identity.GetPlayersRequest(player_ids=ids), metadata=guest.metadata)
    ).players
    too_many = identity.GetPlayersRequest(player_ids=[*ids, "p_y"])
    assert await refused(gateway.identity.GetPlayers(too_many, metadata=guest.metadata)) == Refused(
        grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_PLAYERS", {"limit": "100"}
    )


@pytest.mark.parametrize(
    ("wished", "kept"),
    [
        ("", ""),
        ("   ", ""),
        ("\tJack\n", "Jack"),
        ("Jose\u0301", "José"),
        ("Näkki 海賊", "Näkki 海賊"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("e\u0301" * 24, "é" * 24),
        ("x" * 24, "x" * 24),
        ("Long  John\u3000\u00a0Silver", "Long John Silver"),
        ("Ольга 海賊", "Ольга 海賊"),
    ],
)
def test_names_are_composed_and_trimmed(wished: str, kept: str) -> None:
    """What is kept is the composed form without space around it; its characters count."""
    assert display_name(wished) == kept


@pytest.mark.parametrize(
    "wished",
    [
        "x" * 25,
        "a\nb",
        "a\x00b",
        "a\x7fb",
        "a\u202eb",
        "\u200d",
        "a\u2028b",
        "a\u2066b",
        "\u00adx",
        "a\ue000b",
        "x" * 60_000,
        "J\u0430ck",
        "\u039fscar",
    ],
)
async def test_names_that_do_not_show_are_refused(gateway: Gateway, wished: str) -> None:
    """Controls, reorderings, invisible characters, mixed scripts, too long: DISPLAY_NAME_INVALID, no guest is made."""
    request = identity.SignInAsGuestRequest(display_name=wished)
    assert await refused(gateway.identity.SignInAsGuest(request)) == Refused(
        grpc.StatusCode.INVALID_ARGUMENT, "DISPLAY_NAME_INVALID", {"max": "24"}
    )


@settings(deadline=None)
@given(st.text(max_size=40))
def test_a_kept_name_is_kept_as_it_is(wished: str) -> None:
    """Whatever is wished for: refused, or a name that may be wished for again and stays the same."""
    try:
        name = display_name(wished)
    except Malformed:
        return
    assert display_name(name) == name
    assert len(name) <= LONGEST_NAME


async def test_calls_of_players_need_a_token(gateway: Gateway) -> None:
    """None, a false one, an expired one, one of another gateway: each has its reason, on unary calls and streams."""
    missing = Refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING", {})
    invalid, expired = missing._replace(reason="TOKEN_INVALID"), missing._replace(reason="TOKEN_EXPIRED")
    bad = {
        "": missing,
        "Bearer ": missing,
        "Basic YTpi": missing,
        "Bearer a.b.c": invalid,
        f"Bearer {gateway.keyring.issue_service_token('some-game')}": invalid,
        f"Bearer {gateway.keyring.issue_player_token('p_x', -10)}": expired,
    }
    for value, expected in bad.items():
        metadata = (("authorization", value),) if value else ()
        stub = gateway.matchmaking
        calls: list[Awaitable[Any]] = [
            gateway.identity.GetPlayers(identity.GetPlayersRequest(), metadata=metadata),
            stub.CreateTicket(matchmaking.CreateTicketRequest(request_id="r", wish=a_wish()), metadata=metadata),
            stub.GetTicket(matchmaking.GetTicketRequest(ticket_id="t"), metadata=metadata),
            stub.CancelTicket(matchmaking.CancelTicketRequest(ticket_id="t"), metadata=metadata),
            stub.WatchTicket(matchmaking.WatchTicketRequest(ticket_id="t"), metadata=metadata).read(),
            gateway.history.ListMatches(history.ListMatchesRequest(), metadata=metadata),
            gateway.history.GetMatch(history.GetMatchRequest(match_id="m"), metadata=metadata),
        ]
        assert [await refused(call) for call in calls] == [expected] * len(calls)


async def test_a_token_outlives_the_gateway(tmp_path: Path) -> None:
    """Keys and players are in the data folder: after a restart the same token still lets its player in."""
    async with running(tmp_path) as gateway:
        guest = await gateway.guest("Mary")
    async with running(tmp_path) as gateway:
        request = identity.GetPlayersRequest(player_ids=[guest.player_id])
        answer = await gateway.identity.GetPlayers(request, metadata=guest.metadata)
        assert [player.display_name for player in answer.players] == ["Mary"]


async def test_an_unknown_player_with_a_token_is_let_in(gateway: Gateway) -> None:
    """The token decides: a player who was erased can still play the matches that run."""
    token = gateway.keyring.issue_player_token("p_erased", 60)
    answer = await gateway.matchmaking.CreateTicket(
        matchmaking.CreateTicketRequest(request_id="r", wish=a_wish()),
        metadata=(("authorization", f"Bearer {token}"),),
    )
    assert answer.ticket.position == 1


async def test_what_is_not_served_says_so(gateway: Gateway) -> None:
    """Every call of services to come, unary and streamed, and sign-in by a portal."""
    calls: list[Awaitable[Any]] = [
        gateway.identity.SignInWithToken(identity.SignInWithTokenRequest()),
        gateway.tables.CreateTable(tables.CreateTableRequest()),
        gateway.tables.StartTable(tables.StartTableRequest()),
        gateway.tables.WatchTable(tables.WatchTableRequest()).read(),
    ]
    assert [await refused(call) for call in calls] == [UNIMPLEMENTED] * len(calls)


async def test_the_catalogue_lists_what_is_served(gateway: Gateway) -> None:
    """The games of usable pods, as the pods describe them; no token is asked for."""
    answer = await gateway.catalog.ListGames(catalog.ListGamesRequest())
    assert list(answer.games) == [gateway.games.game.description]
    gateway.games.go()
    assert not (await gateway.catalog.ListGames(catalog.ListGamesRequest())).games
