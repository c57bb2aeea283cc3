"""Static discovery: the pods are those that a setting names, for as long as the process runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.changes import Changes
from gateway.discovery.port import Pod

_GAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):(?P<port>[0-9]{1,5})")


def parse_services(text: str) -> tuple[Pod, ...]:
    """Read the setting TORTUGA_SERVICES: `game=host:port,host:port;other=host:port`.

    Space around any part is ignored, and so are empty parts; an IPv6 host stands in brackets.

    Raises:
        ValueError: a part that is no `game=addresses`, a bad id or address, or the same one twice.
    """
    pods: list[Pod] = []
    for part in filter(None, map(str.strip, text.split(";"))):
        game, equals, addresses = (piece.strip() for piece in part.partition("="))
        if not equals or not _GAME.fullmatch(game):
            raise ValueError(f"'{part}' is no game=host:port,host:port")
        named = [Pod(game, _address(address)) for address in addresses.split(",") if address.strip()]
        if not named:
            raise ValueError(f"'{part}' names no address")
        pods.extend(named)
    if twice := {pod for pod in pods if pods.count(pod) > 1}:
        raise ValueError(f"named twice: {', '.join(sorted(f'{game}={address}' for game, address in twice))}")
    return tuple(sorted(pods))


def _address(text: str) -> str:
    address = text.strip()
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= 65535:
        raise ValueError(f"'{address}' is no host:port")
    return address


class StaticDiscovery:
    """Names the same pods for ever."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._pods = tuple(pods)
        self._changes = Changes()

    @property
    def changes(self) -> Changes:
        """Never announced: nothing changes."""
        return self._changes

    def pods(self) -> Sequence[Pod]:
        """The pods that were given."""
        return self._pods

    async def start(self) -> None:
        """Nothing is to be learned."""

    async def close(self) -> None:
        """Nothing is to be stopped."""
