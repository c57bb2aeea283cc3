"""The discovery port: which pods serve which game, promised in prose.

Discovery says who is *there*. Whether a pod can be used (its link answers, it holds a match's rules version) is for
the links to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gateway.changes import Changes


class Pod(NamedTuple):
    """One process that serves one game."""

    game: str
    """The game's id."""
    address: str
    """Where its gRPC port is, `host:port`; the pod's name in rendezvous hashing."""


class Discovery(Protocol):
    """Knows the pods, and says when they come and go."""

    @property
    def changes(self) -> Changes:
        """Announced after `pods()` has begun to answer differently; from `start` to `close`, on the event loop."""
        ...

    def pods(self) -> Sequence[Pod]:
        """All pods as of now, each once, in a fixed order. Never waits; empty before `start`."""
        ...

    async def start(self) -> None:
        """Learn the pods. Returns when a first answer is known, which may be that there are none."""
        ...

    async def close(self) -> None:
        """Stop looking; `pods()` keeps its last answer."""
        ...
