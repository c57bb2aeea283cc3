"""Free ports for processes that must come back at the same address after a crash."""

from __future__ import annotations

import random
import socket

_FIRST, _LAST = 10_000, 30_000
_TRIES = 200


def is_free(host: str, port: int) -> bool:
    """Whether *port* can be bound now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_ports(host: str, count: int) -> list[int]:
    """*count* different ports that are free now.

    They lie below the range from which the system takes ports for outgoing connections, so that none of those sits on
    one while its process restarts; they are drawn at random, so that two fleets that start at once seldom meet.

    Raises:
        OSError: there are not enough.
    """
    luck = random.SystemRandom()
    found: set[int] = set()
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        port = luck.randrange(_FIRST, _LAST)
        if port not in found and is_free(host, port):
            found.add(port)
    if len(found) < count:
        raise OSError(f"no {count} free ports on {host}")
    return sorted(found)
