"""Keys change while tokens, gateways and verifiers go on."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import jwt
import pytest

from gateway.identity.refresh import RefreshTokens
from gateway.identity.upkeep import IdentityUpkeep
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.clock import StoreClock
from services.kit.errors import Unauthenticated
from services.kit.keys import add_key, open_keys, remove_keys
from services.kit.tokens import PUBLISHED_FIRST_SECONDS, Keyring, Verifier
from tests.shell.test_tokens import Time

LIFE = 900


@pytest.fixture
def clock() -> Time:
    """Ahead of the machine's time, by which the very first key is stamped."""
    return Time()


def _signer(keyring: Keyring) -> str:
    kid: str = jwt.get_unverified_header(keyring.issue_player_token("p1", LIFE))["kid"]
    return kid


def _published(keyring: Keyring) -> list[str]:
    return [key["kid"] for key in keyring.jwks()["keys"]]


async def test_a_new_key_is_published_before_it_signs(tmp_path: Path, clock: Time) -> None:
    """It signs a minute later, by when it is in every gateway's set; the old one stays until its tokens have ended."""
    keyring = Keyring.open(tmp_path, clock)
    old = _signer(keyring)
    assert keyring.rotate()
    _, new = _published(keyring)
    assert (_signer(keyring), _published(keyring)) == (old, [old, new])
    clock.now += PUBLISHED_FIRST_SECONDS - 1
    assert _signer(keyring) == old
    last_of_old = clock.now
    clock.now += 1
    assert _signer(keyring) == new
    clock.now = last_of_old + LIFE
    assert keyring.retire(LIFE) == []
    clock.now += 120
    assert keyring.retire(LIFE) == [old]
    assert _published(keyring) == [new] == [key.kid for key in open_keys(tmp_path / "keys")]


async def test_tokens_hold_through_the_overlap(tmp_path: Path, clock: Time) -> None:
    """A verifier that has cached the old set accepts old and new tokens, of players and of links, at every step."""
    issuing, publishing = Keyring.open(tmp_path, clock), Keyring.open(tmp_path, clock)
    verifier = Verifier(lambda: json.dumps(publishing.jwks()), now=clock, patience=0)
    old = issuing.issue_player_token("p1", LIFE)
    await verifier.verify_player(old)
    issuing.rotate()
    publishing.reload()
    clock.now += PUBLISHED_FIRST_SECONDS
    new = issuing.issue_player_token("p1", LIFE)
    for token in (new, old, issuing.issue_player_token("p2", LIFE)):
        await verifier.verify_player(token)
    assert await verifier.verify_service(issuing.issue_service_token("g"), "g") > clock.now * 1000


async def test_a_removed_key_is_no_longer_accepted(tmp_path: Path, clock: Time) -> None:
    """Once verifiers have looked again; so a stolen old key is worth nothing after the overlap."""
    keyring = Keyring.open(tmp_path, clock)
    forged = keyring.issue_player_token("p1", 10 * LIFE)
    verifier = Verifier.of_keyring(keyring, now=clock)
    await verifier.verify_player(forged)
    keyring.rotate()
    clock.now += 2 * LIFE
    keyring.retire(LIFE)
    with pytest.raises(Unauthenticated, match="TOKEN_INVALID"):
        await Verifier.of_keyring(keyring, now=clock).verify_player(forged)


async def test_gateways_that_share_a_folder_agree(tmp_path: Path, clock: Time) -> None:
    """Each notices another's new key, and that one was removed, without a restart; by age only one makes a key."""
    store = await SqliteGatewayStore.open(tmp_path / "gateway.db")
    tokens = RefreshTokens(store, StoreClock(), days=30)
    rings = [Keyring.open(tmp_path, clock) for _ in range(2)]
    tending = [IdentityUpkeep(ring, tokens, token_seconds=LIFE, key_days=30) for ring in rings]
    clock.now = open_keys(tmp_path / "keys")[0].made_ms / 1000 + 30 * 24 * 3600 + 1
    for one in (*tending, *tending):
        await one.tend_keys()
    assert _published(rings[0]) == _published(rings[1])
    assert len(_published(rings[0])) == 2
    clock.now += PUBLISHED_FIRST_SECONDS
    assert _signer(rings[0]) == _signer(rings[1]) == _published(rings[0])[1]
    clock.now += 2 * LIFE
    for one in tending:
        await one.tend_keys()
    assert _published(rings[0]) == _published(rings[1])
    assert len(_published(rings[1])) == 1
    await store.close()


def test_a_young_key_is_not_replaced_by_age(tmp_path: Path, clock: Time) -> None:
    """Only one that is older than asked."""
    folder = tmp_path / "keys"
    made = open_keys(folder)[0].made_ms
    assert not add_key(folder, made + 10, newest_before_ms=made)
    assert add_key(folder, made + 10, newest_before_ms=made + 1)


def test_the_newest_key_is_never_removed(tmp_path: Path) -> None:
    """Whatever its age; and a clock that went back makes no key that sorts before the newest."""
    folder = tmp_path / "keys"
    newest = open_keys(folder)[0]
    assert remove_keys(folder, newest.made_ms + 10**9) == []
    add_key(folder, 0)
    first, second = open_keys(folder)
    assert (first, second.made_ms) == (first, newest.made_ms + 1)
    assert first.kid == newest.kid


def _rotate_by_age(folder: Path) -> bool:
    made = open_keys(folder)[0].made_ms
    return add_key(folder, made + 2000, newest_before_ms=made + 1000)


def test_processes_that_find_a_key_old_make_one_new(tmp_path: Path) -> None:
    """Four processes race, one makes the key."""
    open_keys(tmp_path / "keys")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert sum(pool.map(_rotate_by_age, [tmp_path / "keys"] * 4, chunksize=1)) == 1
