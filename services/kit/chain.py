"""Commitment, key and hash chain of a match (docs/fairness.md says the same to the byte)."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence

from tortuga.play.v1.match_pb2 import Match

SEED_DOMAIN = b"tortuga/seed/v1"
KEY_DOMAIN = b"tortuga/key/v1"
CHAIN_DOMAIN = b"tortuga/chain/v1"
SEED_BYTES = 32
CONTRIBUTION_BYTES = 32


def commitment(match_id: str, seed: bytes) -> bytes:
    """SHA-256(SEED_DOMAIN ‖ match id ‖ seed), 32 bytes: shown before anyone contributes."""
    return hashlib.sha256(SEED_DOMAIN + match_id.encode() + seed).digest()


def match_key(seed: bytes, contributions: Sequence[bytes]) -> bytes:
    """HMAC-SHA256(seed, KEY_DOMAIN ‖ per seat a length byte and the contribution), 32 bytes: all chance is its."""
    parts = [bytes([len(part)]) + part for part in contributions]
    return hmac.digest(seed, KEY_DOMAIN + b"".join(parts), "sha256")


def root(match: Match) -> bytes:
    """head(0): SHA-256(CHAIN_DOMAIN ‖ canonical JSON of the match's fixed part), 32 bytes."""
    fixed = [
        match.match_id,
        match.game,
        match.rules_version,
        match.options.hex(),
        [[seat.player_id, seat.bot, seat.role] for seat in match.seats],
        match.settings.SerializeToString(deterministic=True).hex(),
        match.created_ms,
        match.commitment.hex(),
    ]
    text = json.dumps(fixed, ensure_ascii=False, separators=(",", ":"))  # as entries are written
    return hashlib.sha256(CHAIN_DOMAIN + text.encode()).digest()


def blind(blind_key: bytes, revision: int) -> bytes:
    """blind(r) = HMAC-SHA256(blind key, r in 8 bytes), 32 bytes: opens one leaf and no other."""
    return hmac.digest(blind_key, revision.to_bytes(8, "big"), "sha256")


def leaf(blinding: bytes, data: bytes) -> bytes:
    """leaf(r) = HMAC-SHA256(blind(r), canonical bytes of the entry), 32 bytes."""
    return hmac.digest(blinding, data, "sha256")


def next_head(head: bytes, leaf_of_entry: bytes) -> bytes:
    """head(r) = SHA-256(head(r-1) ‖ leaf(r)), 32 bytes."""
    return hashlib.sha256(head + leaf_of_entry).digest()
