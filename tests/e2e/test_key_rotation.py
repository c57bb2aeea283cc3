"""A signing key that changes under a running platform."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from pathlib import Path

import httpx
import jwt
import pytest

from services.client import Client
from services.kit.keys import add_key, open_keys
from services.kit.tokens import PUBLISHED_FIRST_SECONDS

GAME = "corsari"


def _age_first_key(folder: Path) -> None:
    """As if the first key had been made an hour ago."""
    (key,) = open_keys(folder)
    (file,) = folder.glob("*.pem")
    file.rename(folder / f"{key.made_ms - 3_600_000:014d}-{key.kid}.pem")


@pytest.mark.slow
async def test_match_goes_on_under_a_new_key(tmp_path: Path) -> None:
    """The gateway takes the key up by itself; a token of the old key still plays, one of the new key too, side by side.

    The key is made with a stamp that lets it sign at once, so that the minute of publishing need not be waited for.
    """
    _age_first_key(tmp_path / "keys")
    free = ("--grpc-port", "0", "--http-port", "0", "--service-port", "0")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.main", "up", "--data", str(tmp_path), "--json", *free),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        up = json.loads(await process.stdout.readline())
        async with asyncio.timeout(60), Client(up["gateway"]) as anne, Client(up["gateway"]) as mary:
            await asyncio.gather(anne.sign_in_as_guest(), mary.sign_in_as_guest())
            match, _ = await asyncio.gather(anne.find_match(GAME, seats=2), mary.find_match(GAME, seats=2))
            async with anne.seat(match, GAME) as one, mary.seat(match, GAME) as two:
                await asyncio.gather(anext(one), anext(two))
                old = jwt.get_unverified_header(anne.token)["kid"]
                add_key(tmp_path / "keys", int((time.time() - PUBLISHED_FIRST_SECONDS - 1) * 1000))
                while (kid := jwt.get_unverified_header(anne.token)["kid"]) == old:
                    await asyncio.sleep(1)
                    await anne.refresh()
                assert jwt.get_unverified_header(mary.token)["kid"] == old
                async with httpx.AsyncClient() as http:
                    jwks = (await http.get(f"{up['url']}/.well-known/jwks.json")).json()
                assert [key["kid"] for key in jwks["keys"]] == [old, kid]
                assert len(await mary.players([])) == 0
                await anne.players([])
                async with anne.seat(match, GAME) as again:
                    await anext(again)
                    await again.resign()
                async for _ in two:
                    pass
                assert two.outcome is not None
    finally:
        process.send_signal(signal.SIGINT)
        await process.wait()
