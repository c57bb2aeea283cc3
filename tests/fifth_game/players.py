"""Players of Nim, run where both wheels are installed: `python players.py GATEWAY POD` prints what they saw as JSON.

They use the client library and the game's entry point, as any client does; of the platform they know its addresses.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

import gateway
import services
from services.cli.replaying import replay
from services.client import Client, Refused, Seat
from services.kit.game import installed_games, load_game
from tortuga.play.v1 import play_pb2

GAME = load_game("nim")
SEED = 20261130

Choice = Callable[[Seat, Random], Message | str]
"""How a player chooses what to do."""


async def played_by(players: int, address: str, choose: Choice, **wish: Any) -> dict[str, Any]:
    """One match by *players* whom equal tickets bring together, and a spectator, there before them; what each saw."""
    match_ids: list[str] = []
    found, watched = asyncio.Event(), asyncio.Event()

    async def player(number: int) -> dict[str, Any]:
        luck = Random(f"{SEED}/{number}")
        async with Client(address, patience=20) as client:
            await client.sign_in_as_guest(f"Player {number}")
            match_id = await client.find_match("nim", seats=players, **wish)
            match_ids.append(match_id)
            found.set()
            await watched.wait()
            async with client.seat(match_id, "nim") as seat:
                return await seen_by(seat, lambda: choose(seat, luck))

    async def spectator() -> dict[str, Any]:
        await found.wait()
        async with Client(address, patience=20) as client:
            await client.sign_in_as_guest("Spectator")
            async with client.watch(match_ids[0], "nim") as seat:
                seen = await seen_by(seat, lambda: "", arrived=watched)
            return seen | {"replayed": await replayed(client, match_ids[0])}

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(player(number)) for number in range(players)]
        watching = group.create_task(spectator())
    return {"match_ids": match_ids, "players": [task.result() for task in tasks], "spectator": watching.result()}


async def seen_by(
    seat: Seat, choose: Callable[[], Message | str], arrived: asyncio.Event | None = None
) -> dict[str, Any]:
    """Play or watch a match to its end, keeping an own picture of it by `follow`; what was seen."""
    seqs: list[int] = []
    events: list[str] = []
    moves = 0
    view: Any = None
    async for update in seat:
        if arrived is not None:
            arrived.set()
        seqs.append(update.header.seq)
        happened = GAME.wire.read_events(update.update)
        viewer: Any = seat.seat
        if update.update.HasField("view"):
            view = GAME.wire.read_view(update.update, viewer)
        elif view is not None:
            view = GAME.rules.follow(view, happened, viewer)
        events += map(str, happened)
        if seat.decision:
            await seat.act(choose())
            moves += 1
    return {
        "seat": seat.seat,
        "seqs": seqs,
        "moves": moves,
        "events": events,
        "heaps": view.heaps,
        "taken": view.taken,
        "options": as_json(GAME.message("Options").FromString(seat.match.options)),
        "rules_version": seat.match.rules_version,
        "outcome": as_json(seat.outcome),
        "seed": seat.status.seed.hex(),
    }


async def refusals(address: str) -> dict[str, Any]:
    """What the gateway and the game say to wishes that do not fit."""
    options = GAME.message("Options")
    wishes: dict[str, dict[str, Any]] = {
        "out of range": {"options": options(heaps=6)},
        "no value": {"options": options(last_stone=7)},
        "unknown": {"options": b"\xf8\x07\x01"},
        "across options": {"options": options(fewest_stones=9, most_stones=8)},
        "variant": {"variant": "fibonacci"},
        "seats": {"seats": 5},
    }
    said = {}
    async with Client(address, patience=20) as client:
        await client.sign_in_as_guest("Wishful")
        for name, wish in wishes.items():
            try:
                await client.find_match("nim", **wish)
            except Refused as refused:
                said[name] = [refused.code.name, refused.reason, dict(sorted(refused.metadata.items()))]
    return said


async def played_at_the_pod(address: str, pod: str) -> dict[str, Any]:
    """A match made by the gateway, then played by typed calls to the pod itself, with the same tokens."""
    contract = import_module("tortuga.nim.v1.nim_service_pb2")
    actions = import_module("tortuga.nim.v1.nim_pb2")
    stub = import_module("tortuga.nim.v1.nim_service_pb2_grpc").NimServiceStub
    async with Client(address) as one, Client(address) as two, grpc.aio.insecure_channel(pod) as channel:
        for client in (one, two):
            await client.sign_in_as_guest()
        finding = [client.find_match("nim", variant="subtraction", seats=2) for client in (one, two)]
        match_id, _ = await asyncio.gather(*finding)
        nim = stub(channel)

        def header(action_id: str = "", decision: int = 0) -> Any:
            return play_pb2.RequestHeader(match_id=match_id, action_id=action_id, decision=decision)

        async def play(client: Client) -> list[str]:
            said = []
            contribute = play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE, contribution=bytes(32))
            request = contract.ActRequest(header=header("contribute"), kit=contribute)
            await nim.Act(request, metadata=client.metadata)
            async for update in nim.Watch(contract.WatchRequest(header=header()), metadata=client.metadata):
                if decision := update.header.decision:
                    too_many = actions.Action(take=actions.Take(heap=0, count=4))
                    said.append(await refusal_of(nim, contract, header(f"x{decision}", decision), too_many, client))
                    take = update.update.legal[0]
                    request = contract.ActRequest(header=header(f"a{decision}", decision), action=take)
                    applied = (await nim.Act(request, metadata=client.metadata)).applied
                    said.append(applied.action_id)
            return said

        said = await asyncio.gather(play(one), play(two))
        without_token = await refusal_of(nim, contract, header("n"), actions.Action(), None)
        async with Client(pod, token=one.token) as directly:
            again = await replayed(directly, match_id)
    return {"said": said, "without_token": without_token, "replayed": again}


async def refusal_of(nim: Any, contract: Any, header: Any, action: Any, client: Client | None) -> str:
    """The reason for which *action* is refused; "" if it is not."""
    metadata = client.metadata if client else ()
    try:
        await nim.Act(contract.ActRequest(header=header, action=action), metadata=metadata)
    except grpc.aio.AioRpcError as error:
        refused = Refused.by_status(error)
        return f"{refused.code.name} {refused.reason} {dict(sorted(refused.metadata.items()))}"
    return ""


async def replayed(client: Client, match_id: str) -> list[Any]:
    """A finished match from its beginning: each message as JSON."""
    return [as_json(message) async for message in replay(client, match_id, "nim")]


def at_random(seat: Seat, luck: Random) -> Message:
    """Any legal action, as the message that the update brought."""
    return luck.choice(list(seat.legal))


def in_words(seat: Seat, luck: Random) -> str:
    """Any legal action, in its text form."""
    return str(GAME.wire.read_action(at_random(seat, luck).SerializeToString()))


def as_json(message: Any) -> Any:
    """*message* with the contract's own names; None for None."""
    return None if message is None else MessageToDict(message, preserving_proto_field_name=True)


async def main(address: str, pod: str) -> dict[str, Any]:
    """Everything, one after the other."""
    async with Client(address, patience=20) as client:
        catalogue = [as_json(game) for game in await client.games()]
    options = GAME.message("Options")(heaps=4, fewest_stones=2, most_stones=6, most_taken=2, lot_for_first=False)
    print("seed", SEED, file=sys.stderr)
    return {
        "homes": {module.__name__: str(Path(str(module.__file__)).parent) for module in (gateway, services)},
        "installed": installed_games(),
        "catalogue": catalogue,
        "by_options": await played_by(3, address, at_random, options=options),
        "by_variant": await played_by(2, address, in_words, variant="misere"),
        "refusals": await refusals(address),
        "at_the_pod": await played_at_the_pod(address, pod),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
