"""What a seat can do. Text form: `take 2 from 0`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from services.kit.rules import InvalidAction

from tortuga_nim.options import MOST_HEAPS, MOST_STONES


@dataclass(frozen=True, slots=True)
class Take:
    """Take *count* stones from *heap*, counted from 0."""

    heap: int
    count: int

    def __str__(self) -> str:
        return f"take {self.count} from {self.heap}"


def exists(heap: int, count: int) -> bool:
    """Whether there is a position of this game in which so many stones can be taken from that heap."""
    return 0 <= heap < MOST_HEAPS and 1 <= count <= MOST_STONES


def parse(text: str) -> Take:
    """Read the text form.

    Raises:
        InvalidAction: UNREADABLE: *text* is no action of this game, in any position.
    """
    found = _FORM.fullmatch(text)
    if found is None or not exists(heap := int(found["heap"]), count := int(found["count"])):
        raise InvalidAction("UNREADABLE")
    return Take(heap, count)


_FORM: Final = re.compile(r"take (?P<count>[1-9][0-9]?) from (?P<heap>[0-9])")
"""One spelling an action: no leading zeros, so that a text that reads is the text that is written."""
