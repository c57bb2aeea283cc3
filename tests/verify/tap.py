"""Listening in on a line: what a server sends one client, to the last byte, and the gRPC messages in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Self

_FRAME_HEAD = 9
_DATA, _PADDED = 0x0, 0x8


class Tap:
    """Stands between one client and a server, to be used in `async with`. Passes everything on as it comes."""

    def __init__(self, target: str) -> None:
        self._host, _, self._port = target.rpartition(":")
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.address = ""
        """host:port for the client."""
        self.received: list[bytearray] = []
        """What the server sent, a connection each."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.address = "{}:{}".format(*self._server.sockets[0].getsockname()[:2])
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def messages(self) -> Iterator[bytes]:
        """Every gRPC message received whole; those of one stream in their order."""
        for connection in self.received:
            for stream in _streams(bytes(connection)).values():
                yield from _messages(stream)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        kept = bytearray()
        self.received.append(kept)
        server_reader, server_writer = await asyncio.open_connection(self._host, int(self._port))
        try:
            ways = (_pass_on(reader, server_writer, None), _pass_on(server_reader, writer, kept))
            await asyncio.wait([asyncio.create_task(way) for way in ways], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in (writer, server_writer):
                end.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray | None) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            if kept is not None:
                kept += data
            writer.write(data)
            await writer.drain()


def _streams(connection: bytes) -> dict[int, bytes]:
    """The DATA of each HTTP/2 stream of a connection."""
    streams: dict[int, bytes] = {}
    place = 0
    while place + _FRAME_HEAD <= len(connection):
        size = int.from_bytes(connection[place : place + 3], "big")
        kind, flags = connection[place + 3], connection[place + 4]
        number = int.from_bytes(connection[place + 5 : place + 9], "big") & 0x7FFFFFFF
        content = connection[place + _FRAME_HEAD : place + _FRAME_HEAD + size]
        if kind == _DATA:
            assert not flags & _PADDED, "gRPC does not pad"
            streams[number] = streams.get(number, b"") + content
        place += _FRAME_HEAD + size
    return streams


def _messages(stream: bytes) -> Iterator[bytes]:
    place = 0
    while place + 5 <= len(stream):
        assert stream[place] == 0, "nothing is compressed: compressed bytes would hide what is looked for"
        size = int.from_bytes(stream[place + 1 : place + 5], "big")
        if place + 5 + size > len(stream):
            return
        yield stream[place + 5 : place + 5 + size]
        place += 5 + size
