"""The client library against a platform that is up: advice, kit actions, and tokens that change under a match."""

from __future__ import annotations

import asyncio

from services.client import Client, Seat

GAME = "corsari"


async def _sit_down(client: Client) -> str:
    await client.sign_in_as_guest()
    return await client.find_match(GAME, seats=2)


async def _until_running(seat: Seat) -> None:
    async for update in seat:
        if update.HasField("update"):
            return


async def test_players_take_advice_and_one_resigns(gateway: str) -> None:
    """Who is asked gets legal advice for the position as it stands, and may follow it; tokens change meanwhile."""
    async with asyncio.timeout(60), Client(gateway) as anne, Client(gateway) as mary:
        match, _ = await asyncio.gather(_sit_down(anne), _sit_down(mary))
        async with anne.seat(match, GAME) as one, mary.seat(match, GAME) as two:
            await asyncio.gather(_until_running(one), _until_running(two))
            asked, client = (one, anne) if one.decision else (two, mary)
            old = client.refresh_token
            await client.refresh()
            assert client.refresh_token not in {"", old}
            advice = await client.suggest(asked, limit=2)
            assert 1 <= len(advice) <= 2
            assert advice[0].action in asked.legal
            await asked.act(advice[0].action)
            await asked.resign()
            async for _ in one:
                pass
            assert one.outcome is not None
            assert one.outcome.reason == "resigned"
            assert (one.deadline(), list(one.banks), one.paused) == (0, [], False)
