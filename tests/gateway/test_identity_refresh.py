"""Refresh tokens: each once, the answer survives being lost, and a second holder ends the sign-in."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import sys
from pathlib import Path

import grpc
import pytest

from gateway.identity.refresh import GRACE_MS, MOST_SIGN_INS, RefreshTokens
from gateway.store import sign_in_jobs
from gateway.store.port import GatewayStore
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.clock import StoreClock
from services.kit.errors import Unauthenticated
from tests.gateway.harness import Gateway, Refused, refused, running
from tests.gateway.stores import Data
from tortuga.gateway.v1 import identity_service_pb2 as identity

DAY_MS = 24 * 3600 * 1000
INVALID = Refused(grpc.StatusCode.UNAUTHENTICATED, "REFRESH_INVALID", {})
REUSED = INVALID._replace(reason="REFRESH_REUSED")


class Moved(StoreClock):
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_800_000_000_000

    def now_ms(self) -> int:
        """As set."""
        return self.now


@pytest.fixture
def clock() -> Moved:
    return Moved()


@pytest.fixture
def tokens(store: GatewayStore, clock: Moved) -> RefreshTokens:
    return RefreshTokens(store, clock, days=30)


async def _reason(tokens: RefreshTokens, token: str) -> str:
    with pytest.raises(Unauthenticated) as raised:
        await tokens.exchange(token)
    return raised.value.reason


async def _refresh(gateway: Gateway, token: str) -> identity.Tokens:
    answer = await gateway.identity.RefreshTokens(identity.RefreshTokensRequest(refresh_token=token))
    found: identity.Tokens = answer.tokens
    return found


async def test_a_refresh_token_lets_its_player_go_on(gateway: Gateway) -> None:
    """New tokens of the same player, again and again; the old one has ended with its successor's use."""
    signed = await gateway.identity.SignInAsGuest(identity.SignInAsGuestRequest(display_name="Anne"))
    first = signed.tokens.refresh_token
    second = await _refresh(gateway, first)
    third = await _refresh(gateway, second.refresh_token)
    assert len({first, second.refresh_token, third.refresh_token}) == 3
    metadata = (("authorization", f"Bearer {third.access_token}"),)
    request = identity.GetPlayersRequest(player_ids=[signed.player.player_id])
    assert [p.display_name for p in (await gateway.identity.GetPlayers(request, metadata=metadata)).players] == ["Anne"]
    assert await refused(_refresh(gateway, first)) == REUSED
    assert await refused(_refresh(gateway, third.refresh_token)) == INVALID


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "é" * 43, "!" * 43, "A" * 42 + "B", "x" * 50_000])
async def test_what_is_no_refresh_token_is_refused(gateway: Gateway, token: str) -> None:
    """Of whatever form: REFRESH_INVALID; nothing says whether it was close."""
    assert await refused(_refresh(gateway, token)) == INVALID


async def test_a_lost_answer_can_be_had_again(tokens: RefreshTokens, clock: Moved) -> None:
    """Within the grace, and while the successor is unused, the same successor is told; also to calls side by side."""
    first = await tokens.begin("p1")
    answers = await asyncio.gather(*(tokens.exchange(first) for _ in range(5)))
    assert len(set(answers)) == 1
    clock.now += GRACE_MS
    assert await tokens.exchange(first) == answers[0]
    assert (await tokens.exchange(answers[0].token)).player_id == "p1"


async def test_a_token_repeated_too_late_ends_the_sign_in(tokens: RefreshTokens, clock: Moved) -> None:
    """After the grace it is a second holder's: the newest is worth nothing either; other sign-ins stay."""
    first, other = await tokens.begin("p1"), await tokens.begin("p1")
    second = (await tokens.exchange(first)).token
    clock.now += GRACE_MS + 1
    assert await _reason(tokens, first) == "REFRESH_REUSED"
    assert await _reason(tokens, second) == "REFRESH_INVALID"
    assert await _reason(tokens, first) == "REFRESH_INVALID"
    assert (await tokens.exchange(other)).player_id == "p1"


async def test_any_older_token_ends_the_sign_in(tokens: RefreshTokens) -> None:
    """Not only the last one: whoever kept an old one is noticed, at once."""
    chain = [await tokens.begin("p1")]
    for _ in range(5):
        chain.append((await tokens.exchange(chain[-1])).token)
    assert await _reason(tokens, chain[1]) == "REFRESH_REUSED"
    assert await _reason(tokens, chain[-1]) == "REFRESH_INVALID"


async def test_refresh_tokens_expire_and_are_forgotten(
    tokens: RefreshTokens, store: GatewayStore, clock: Moved
) -> None:
    """After 30 days without use; each use begins them anew; what has expired leaves nothing behind."""
    idle, busy = await tokens.begin("p1"), await tokens.begin("p2")
    clock.now += 20 * DAY_MS
    busy = (await tokens.exchange(busy)).token
    clock.now += 20 * DAY_MS
    assert await _reason(tokens, idle) == "REFRESH_INVALID"
    assert await tokens.forget_expired() == 2
    assert await tokens.forget_expired() == 0
    assert (await tokens.exchange(busy)).player_id == "p2"


async def test_sign_ins_of_one_player_are_bounded(tokens: RefreshTokens, clock: Moved) -> None:
    """One more revokes the longest unused."""
    begun = []
    for _ in range(MOST_SIGN_INS):
        begun.append(await tokens.begin("p1"))
        clock.now += 1000
    begun[0] = (await tokens.exchange(begun[0])).token
    await tokens.begin("p1")
    assert await _reason(tokens, begun[1]) == "REFRESH_INVALID"
    assert (await tokens.exchange(begun[0])).player_id == "p1"


async def test_remembered_tokens_of_one_sign_in_are_bounded(
    tokens: RefreshTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest are forgotten: refused then, though without ending the sign-in."""
    monkeypatch.setattr(sign_in_jobs, "_MOST_EXCHANGED", 3)
    chain = [await tokens.begin("p1")]
    for _ in range(6):
        chain.append((await tokens.exchange(chain[-1])).token)
    assert await _reason(tokens, chain[0]) == "REFRESH_INVALID"
    assert await _reason(tokens, chain[3]) == "REFRESH_REUSED"


async def test_an_exchange_outlives_a_restart(tokens: RefreshTokens, data: Data, clock: Moved) -> None:
    """The successor is good afterwards, and an answer lost with the gateway can be had again."""
    first = await tokens.begin("p1")
    second = await tokens.exchange(first)
    again = RefreshTokens(await data.reopen(), clock, days=30)
    assert await again.exchange(first) == second
    assert (await again.exchange(second.token)).player_id == "p1"


async def test_an_exchange_is_durable_before_it_is_answered(tmp_path: Path) -> None:
    """A process prints the successor and is killed at once (`kill -9`): the successor is good, the first is spent."""
    path, clock = tmp_path / "gateway.db", StoreClock()
    store = await SqliteGatewayStore.open(path)
    first = await RefreshTokens(store, clock, days=30).begin("p1")
    await store.close()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.gateway.test_identity_refresh", str(path), first), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        printed, _ = await process.communicate()
    assert process.returncode == -signal.SIGKILL
    store = await SqliteGatewayStore.open(path)
    tokens = RefreshTokens(store, clock, days=30)
    assert (await tokens.exchange(printed.decode())).player_id == "p1"
    assert await _reason(tokens, first) == "REFRESH_REUSED"
    await store.close()


async def test_no_token_is_in_the_store(tmp_path: Path) -> None:
    """Neither as text nor as bytes, before and after its exchange."""
    async with running(tmp_path) as gateway:
        signed = await gateway.identity.SignInAsGuest(identity.SignInAsGuestRequest())
        told = [signed.tokens.refresh_token]
        told.append((await _refresh(gateway, told[0])).refresh_token)
    content = b"".join(file.read_bytes() for file in tmp_path.glob("gateway.db*"))
    assert signed.player.player_id.encode() in content
    for token in told:
        assert token.encode() not in content
        assert base64.urlsafe_b64decode(token + "=") not in content


async def _die_after_exchange(path: Path, token: str) -> None:
    renewed = await RefreshTokens(await SqliteGatewayStore.open(path), StoreClock(), days=30).exchange(token)
    os.write(1, renewed.token.encode())
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(_die_after_exchange(Path(sys.argv[1]), sys.argv[2]))
