"""Page tokens: where the next page of a player's list begins, in a text that means nothing to clients.

A token is made of the place alone, so it survives restarts and any gateway takes it. The digest in it ties it to its
query; it is no secret, and none is needed: the place is in a list that is the caller's own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import NamedTuple

from gateway.store.port import Mark
from services.kit.errors import Malformed

_DIGEST_BYTES = 12
_TIME_BYTES = 8
_PURPOSE = b"tortuga/page/v1"


class Query(NamedTuple):
    """Which list is read. Two pages of different queries have nothing to do with each other."""

    player_id: str
    game: str
    """Empty for all games."""
    live: bool


def page_token(query: Query, last: Mark) -> str:
    """The token of the page that follows *last*."""
    place = last.decided_ms.to_bytes(_TIME_BYTES, "big", signed=True) + last.match_id.encode()
    said = json.dumps([*query, *last]).encode()
    digest = hashlib.blake2b(said, digest_size=_DIGEST_BYTES, person=_PURPOSE).digest()
    return base64.urlsafe_b64encode(digest + place).rstrip(b"=").decode("ascii")


def page_start(query: Query, token: str) -> Mark | None:
    """Behind what the page of *token* begins; None for the empty token, the first page's.

    Raises:
        Malformed: PAGE_TOKEN: no token, or one of another query.
    """
    if not token:
        return None
    try:
        place = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[_DIGEST_BYTES:]
        start = Mark(int.from_bytes(place[:_TIME_BYTES], "big", signed=True), place[_TIME_BYTES:].decode())
    except (ValueError, binascii.Error):
        raise Malformed("PAGE_TOKEN") from None
    if page_token(query, start) != token:
        raise Malformed("PAGE_TOKEN")
    return start
