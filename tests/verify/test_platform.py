"""A match through real processes: watched by a stranger, exported, verified, replayed; and who may not have it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from services.cli.main import app
from services.cli.replaying import replay
from services.client import Client, Refused, Seat
from services.kit.export import read
from services.kit.game import load_game
from services.kit.verify import verify
from tests.verify import independent
from tests.verify.conftest import TORTUGA, Platform
from tests.verify.table import GAME, play, seated
from tortuga.play.v1 import match_pb2, play_pb2

SEED = Random().randrange(1 << 32)


@dataclass
class Evening:
    """One match of three, and what a stranger saw of it."""

    match_id: str
    seats: list[Seat]
    watched: list[str]
    watch_status: int | None
    refused_meanwhile: list[str]


async def _reason(client: Client, match_id: str) -> str:
    """Why `Replay` is refused."""
    with pytest.raises(Refused) as raised:
        async for _ in replay(client, match_id, GAME):
            pass
    return raised.value.reason


async def _evening(gateway: str) -> Evening:
    print("seed", SEED)
    refused: list[str] = []
    async with seated([gateway] * 3) as (match_id, clients), Client(gateway) as stranger:
        await stranger.sign_in_as_guest()
        refused.append(await _reason(stranger, match_id))
        watch = await asyncio.create_subprocess_exec(
            *(*TORTUGA, "watch", match_id, "--target", gateway), stdout=asyncio.subprocess.PIPE
        )
        assert watch.stdout is not None
        first = await asyncio.wait_for(watch.stdout.readline(), 30)  # it looks on before the first one comes

        async def turn(seat: Seat) -> bool:
            if seat.decision == 2:
                refused.append(await _reason(clients[seat.seat or 0], match_id))
            return True

        seats = await play(clients, match_id, Random(SEED), turn)
        rest, _ = await asyncio.wait_for(watch.communicate(), 30)
    lines = (first + rest).decode().splitlines()
    return Evening(match_id, sorted(seats, key=lambda seat: seat.seat or 0), lines, watch.returncode, refused)


@pytest.fixture(scope="module")
def evening(platform: Platform) -> Evening:
    return asyncio.run(_evening(platform.gateway))


def tortuga(platform: Platform, *arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments), "--target", platform.gateway])


def test_replay_of_a_running_match_is_refused(evening: Evening) -> None:
    """Before the start and in mid-play, for a stranger and for those who play: MATCH_RUNNING."""
    assert len(evening.refused_meanwhile) >= 2
    assert set(evening.refused_meanwhile) == {"MATCH_RUNNING"}


def test_a_spectator_watches_to_the_end(evening: Evening) -> None:
    """A line an update, from before the start to the outcome; no seat's card; then the command ends by itself."""
    assert evening.watch_status == 0
    numbers = [int(line.split()[0]) for line in evening.watched]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    told = [line.lstrip().split("  ", 2)[-1] for line in evening.watched]
    assert told[0].startswith("gathering, away 0 1 2")
    assert sum(line.startswith(("0 @contribute ", "1 @contribute ", "2 @contribute ")) for line in told) == 3
    begin = next(line for line in told if line.startswith("@begin"))
    assert "dealt hand 1" in begin
    assert "hand [" not in "".join(told)
    assert "drew stock ?" in "".join(told) or "drew stock" not in "".join(told)
    assert f"ended ({evening.seats[0].status.outcome.reason}: 1. seat " in told[-1]


def test_export_and_verify(platform: Platform, evening: Evening, tmp_path: Path) -> None:
    """The file that a stranger exports is true, by the platform and by file; its hashes are those the players got."""
    path = tmp_path / "match.json"
    done = tortuga(platform, "export", evening.match_id, "--game", GAME, "-o", path)
    assert done.exit_code == 0, done.stderr
    export = read(path.read_bytes())
    assert verify(export, load_game(GAME)).full
    independent.check_file(path.read_text(encoding="utf-8"))
    found = [json.loads(tortuga(platform, "verify", source, "--json").stdout) for source in (evening.match_id, path)]
    assert found[0] == found[1]
    assert (found[0]["verdict"], found[0]["match"], found[0]["sealed"]) == ("full", evening.match_id, 0)
    for seat in evening.seats:
        assert seat.last is not None
        assert seat.last.header.head.hex() == found[0]["head"]
        assert seat.match.commitment.hex() == found[0]["commitment"]
        assert seat.status.seed == export.seed
        assert seat.outcome == export.outcome
        text = f"@contribute {seat.contribution.hex()}"
        assert any(json.loads(entry.data)[2:4] == [seat.seat, text] for entry in export.entries)
    assert tortuga(platform, "export", evening.match_id).stdout == path.read_text(encoding="utf-8")


def test_replay_command_of_a_match(platform: Platform, evening: Evening) -> None:
    """By id as by file: all entries, to the outcome."""
    shown = tortuga(platform, "replay", evening.match_id)
    assert shown.exit_code == 0
    assert f"match {evening.match_id} of {GAME}" in shown.stdout
    assert f"ended: {evening.seats[0].status.outcome.reason}: 1. seat " in shown.stdout


def test_who_comes_late_sees_how_it_ended(platform: Platform, evening: Evening) -> None:
    """`watch` of a match that is over prints how it stands, and ends."""
    shown = tortuga(platform, "watch", evening.match_id)
    assert shown.exit_code == 0
    [line] = shown.stdout.splitlines()
    assert "ended (" in line


def test_an_unknown_match_is_refused(platform: Platform) -> None:
    """MATCH_UNKNOWN, in words and with exit 2, by every command."""
    for command in ("export", "verify", "replay", "watch"):
        result = tortuga(platform, command, "nosuchmatch")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "no such match" in result.stderr


async def _end_quickly(gateway: str, spectators: match_pb2.Spectators.ValueType, resigns: bool) -> tuple[str, str]:
    """A match that ends by resigning, or is aborted before the start; its id, and the token of one who played."""
    settings = match_pb2.MatchSettings(spectators=spectators)
    kind = play_pb2.KIT_KIND_RESIGN if resigns else play_pb2.KIT_KIND_ABORT
    async with seated([gateway] * 2, settings) as (match_id, clients):
        if resigns:

            async def turn(seat: Seat) -> bool:
                if seat.decision == 3:
                    await seat.act(play_pb2.KitAction(kind=kind))
                return seat.status.state == match_pb2.MATCH_STATE_RUNNING or not seat.status.outcome.reason

            await play(clients, match_id, Random(SEED), turn)
        else:
            async with clients[0].seat(match_id, GAME) as seat:
                await anext(seat)
                await seat.act(play_pb2.KitAction(kind=kind))
                async for _ in seat:
                    pass
        return match_id, clients[0].token


@pytest.mark.parametrize("resigns", [True, False], ids=["resigned", "aborted"])
def test_a_closed_match_opens_to_its_players_only(platform: Platform, resigns: bool) -> None:
    """SPECTATORS_NONE: strangers are refused record and view; a player's token fetches it, and it verifies in full."""
    match_id, token = asyncio.run(_end_quickly(platform.gateway, match_pb2.SPECTATORS_NONE, resigns))
    for command in ("export", "verify", "replay", "watch"):
        result = tortuga(platform, command, match_id)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "only its players" in result.stderr
    found: Any = json.loads(tortuga(platform, "verify", match_id, "--token", token, "--json").stdout)
    assert found["verdict"] == "full"
    assert (found["draws"] > 0) == resigns
