"""A process of hostile clients: `python -m tests.hostile.attack ADDRESS MATCH CLIENTS`, until its input ends.

Every client has a connection of its own, sends frames just below the limit as fast as they are taken, and never reads.
A stream that is not taken from any more is dropped after a moment, and another one is opened. Writes `ready` once all
have signed in, `warm` once each has been held up or refused for the first time, and in the end one line of JSON: frames
sent and streams opened, by kind of attack.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import cycle

import grpc

from services.client import Client
from services.kit.stream import MOST_ATTACHMENTS
from tests.hostile import frames
from tortuga.play.v1 import match_pb2

BLOCKED_SECONDS = 2.0
"""A stream that takes nothing for so long is dropped."""

ACTS_AT_ONCE = 4
POLITE = 19
"""The attackers' niceness: their own cost is not what is measured; in life they have machines of their own."""

_CALL_SECONDS = 10.0

Attack = Callable[["Attacker"], Awaitable[None]]


class Attacker:
    """One hostile client, for as long as the attack lasts."""

    def __init__(self, client: Client, match_id: str, sent: Counter[str], opened: Counter[str]) -> None:
        self.client, self.match_id = client, match_id
        self._sent, self._opened = sent, opened
        self.held_up = asyncio.Event()
        """It has got as far as it can for the first time."""

    async def flood(self, kind: str, *first: bytes, then: bytes) -> None:
        """Open a stream, send *first*, then *then* for as long as it is taken, and read nothing."""
        call = frames.method(self.client.streams, "Play")(metadata=self.client.metadata)
        self._opened[kind] += 1
        try:
            for data in first:
                await asyncio.wait_for(call.write(data), BLOCKED_SECONDS)
            while True:
                await asyncio.wait_for(call.write(then), BLOCKED_SECONDS)
                self._sent[kind] += 1
        except (TimeoutError, grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await asyncio.sleep(0.1)
        finally:
            self.held_up.set()
            call.cancel()

    async def act(self, kind: str, data: bytes) -> None:
        """A few single calls at once."""
        call = frames.method(self.client.calls, "Act")
        with suppress(grpc.aio.AioRpcError):
            self._sent[kind] += ACTS_AT_ONCE
            calls = [call(data, metadata=self.client.metadata, timeout=_CALL_SECONDS) for _ in range(ACTS_AT_ONCE)]
            await asyncio.gather(*calls)
        self.held_up.set()


async def long_ids(attacker: Attacker) -> None:
    """Acts with match ids of 60 kB."""
    await attacker.act("long_ids", frames.act_on_long_id())


async def strays(attacker: Attacker) -> None:
    """Requests for a match that the stream is not attached to."""
    await attacker.flood("strays", then=frames.stray())


async def attaches(attacker: Attacker) -> None:
    """Attaches to a real match, each bringing a whole view that nobody reads."""
    await attacker.flood("attaches", then=frames.padded_attach(attacker.match_id))


async def unseated(attacker: Attacker) -> None:
    """Requests of a spectator that pass the gateway and are refused by the match."""
    first, then = frames.attach(attacker.match_id), frames.padded_resignation(attacker.match_id)
    await attacker.flood("unseated", first, then=then)


async def crowds(attacker: Attacker) -> None:
    """Requests on as many attachments as a stream may have: each may have some unanswered."""
    ids = [f"{attacker.match_id}-{number}" for number in range(MOST_ATTACHMENTS)]
    attached = [frames.attach(match_id) for match_id in ids]
    await attacker.flood("crowds", *attached, then=frames.padded_resignation(ids[0]))


async def seated(attacker: Attacker, own_match: str) -> None:
    """A seat's own contribution, valid once and repeated for ever."""
    first, then = frames.attach(own_match, spectate=False), frames.padded_contribution(own_match)
    await attacker.flood("seated", first, then=then)


KINDS: tuple[Attack, ...] = (long_ids, strays, attaches, unseated, crowds)


async def _keep_on(attack: Attack, attacker: Attacker) -> None:
    while True:
        await attack(attacker)


async def _seats(attackers: list[Attacker]) -> list[asyncio.Task[None]]:
    """Pairs of attackers with a match of their own, each repeating its contribution there."""

    async def sit(attacker: Attacker) -> None:
        # A wish of their own: an attacker in the honest players' queue would be seated with one, and never play.
        unseen = match_pb2.MatchSettings(spectators=match_pb2.SPECTATORS_NONE)
        own = await attacker.client.find_match(frames.GAME.id, seats=2, settings=unseen)
        while True:
            await seated(attacker, own)

    return [asyncio.create_task(sit(attacker)) for attacker in attackers]


async def _say_warm(attackers: list[Attacker]) -> None:
    for attacker in attackers:
        await attacker.held_up.wait()
    print("warm", flush=True)


async def _run(address: str, match_id: str, count: int) -> None:
    sent: Counter[str] = Counter()
    opened: Counter[str] = Counter()
    clients = [Client(address) for _ in range(count)]
    for few in range(0, count, 20):
        await asyncio.gather(*(client.sign_in_as_guest() for client in clients[few : few + 20]))
    attackers = [Attacker(client, match_id, sent, opened) for client in clients]
    seated_ones, others = attackers[: count // 6 // 2 * 2], attackers[count // 6 // 2 * 2 :]
    print("ready", flush=True)
    tasks = await _seats(seated_ones)
    tasks += [asyncio.create_task(_keep_on(kind, one)) for kind, one in zip(cycle(KINDS), others)]
    tasks.append(asyncio.create_task(_say_warm(attackers)))
    await asyncio.to_thread(sys.stdin.read)
    failures = Counter(repr(task.exception()) for task in tasks if task.done() and task.exception())
    print(json.dumps({"sent": sent, "opened": opened, "failures": failures}), flush=True)
    os._exit(0)  # hundreds of open calls are dropped at once, as an attacker would


if __name__ == "__main__":
    os.nice(POLITE)
    asyncio.run(_run(sys.argv[1], sys.argv[2], int(sys.argv[3])))
