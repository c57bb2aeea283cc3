"""Tokens: who may pass, and who may not."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.kit.errors import Unauthenticated, Unavailable
from services.kit.keys import BadKeys, SigningKey, open_keys, read_jwks
from services.kit.tokens import Keyring, VerifiedPlayer, Verifier, bearer_token

NOW = 1_800_000_000


class Time:
    """A clock that tests set, in seconds."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def key() -> SigningKey:
    return SigningKey.of(Ed25519PrivateKey.generate())


@pytest.fixture
def keyring(key: SigningKey, clock: Time) -> Keyring:
    return Keyring([key], clock)


@pytest.fixture
def verifier(keyring: Keyring, clock: Time) -> Verifier:
    return Verifier.of_keyring(keyring, now=clock)


async def refused(waiting: Any) -> str:
    with pytest.raises(Unauthenticated) as raised:
        await waiting
    return raised.value.reason


async def test_a_players_token_names_the_player_until_it_expires(
    keyring: Keyring, verifier: Verifier, clock: Time
) -> None:
    """Whose token, until when; the second look says the same, and expiry is seen on remembered tokens too."""
    token = keyring.issue_player_token("p1", 900)
    for _ in range(2):
        assert await verifier.verify_player(token) == VerifiedPlayer("p1", (NOW + 900) * 1000)
    clock.now += 900
    assert await refused(verifier.verify_player(token)) == "TOKEN_EXPIRED"
    assert await refused(Verifier.of_keyring(keyring, now=clock).verify_player(token)) == "TOKEN_EXPIRED"


async def test_a_services_token_opens_its_game_alone(keyring: Keyring, verifier: Verifier, clock: Time) -> None:
    """It holds for its game for five minutes, and for no other game."""
    token = keyring.issue_service_token("nim")
    assert await verifier.verify_service(token, "nim") == (NOW + 300) * 1000
    assert await refused(verifier.verify_service(token, "go")) == "TOKEN_INVALID"
    clock.now += 301
    assert await refused(verifier.verify_service(token, "nim")) == "TOKEN_EXPIRED"


async def test_neither_kind_passes_for_the_other(keyring: Keyring, verifier: Verifier) -> None:
    """A player opens no link, a link is no player, and no game may be called as the players' audience is."""
    assert await refused(verifier.verify_service(keyring.issue_player_token("p1", 60), "nim")) == "TOKEN_INVALID"
    assert await refused(verifier.verify_player(keyring.issue_service_token("nim"))) == "TOKEN_INVALID"
    assert await refused(verifier.verify_service(keyring.issue_player_token("p1", 60), "tortuga")) == "TOKEN_INVALID"
    with pytest.raises(ValueError, match="name"):
        keyring.issue_service_token("tortuga")


GOOD: dict[str, Any] = {"iss": "tortuga", "aud": "tortuga", "sub": "p1", "iat": NOW, "exp": NOW + 60}


@pytest.mark.parametrize(
    "claims",
    [
        *({name: value for name, value in GOOD.items() if name != missing} for missing in GOOD),
        {**GOOD, "aud": "nim"},
        {**GOOD, "aud": ["tortuga"]},
        {**GOOD, "aud": ["tortuga", "nim"]},
        {**GOOD, "iss": "somebody"},
        {**GOOD, "sub": ""},
        {**GOOD, "exp": "never"},
        {**GOOD, "exp": True},
        {**GOOD, "nbf": NOW * 10},
    ],
    ids=str,
)
async def test_claims_that_do_not_hold_are_refused(key: SigningKey, verifier: Verifier, claims: dict[str, Any]) -> None:
    """Rightly signed, and yet: every claim is required and checked."""
    token = jwt.encode(claims, key.private, algorithm="EdDSA", headers={"kid": key.kid})
    assert await refused(verifier.verify_player(token)) == "TOKEN_INVALID"


Forge = Callable[[SigningKey], str]

FORGED: dict[str, Forge] = {
    "unsigned": lambda key: jwt.encode(GOOD, "", algorithm="none", headers={"kid": key.kid}),
    "signed with the public key as a secret": lambda key: jwt.encode(
        GOOD, key.public()["x"], algorithm="HS256", headers={"kid": key.kid}
    ),
    "RS256": lambda key: jwt.encode(
        GOOD, rsa.generate_private_key(65537, 2048), algorithm="RS256", headers={"kid": key.kid}
    ),
    "ES256": lambda key: jwt.encode(
        GOOD, ec.generate_private_key(ec.SECP256R1()), algorithm="ES256", headers={"kid": key.kid}
    ),
    "another key under the kid": lambda key: jwt.encode(
        GOOD, Ed25519PrivateKey.generate(), algorithm="EdDSA", headers={"kid": key.kid}
    ),
    "an unknown kid": lambda key: jwt.encode(GOOD, key.private, algorithm="EdDSA", headers={"kid": "other"}),
    "no kid": lambda key: jwt.encode(GOOD, key.private, algorithm="EdDSA"),
    "a key of its own in the header": lambda key: jwt.encode(
        GOOD, key.private, algorithm="EdDSA", headers={"jwk": key.public()}
    ),
    "no JWT": lambda _: "abc",
    "dots": lambda _: "..",
    "no text a JWT could have": lambda _: "\u2603.\u2603.\u2603",
    "very long": lambda key: jwt.encode({**GOOD, "x": "y" * 9000}, key.private, "EdDSA", headers={"kid": key.kid}),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_forged_tokens_are_refused(key: SigningKey, verifier: Verifier, forge: Forge) -> None:
    """Only EdDSA by a published key passes."""
    assert await refused(verifier.verify_player(forge(key))) == "TOKEN_INVALID"


async def test_a_changed_byte_anywhere_is_seen(keyring: Keyring, verifier: Verifier) -> None:
    """A token with one character changed never names another player."""
    token = keyring.issue_player_token("p1", 60)
    for place, old in enumerate(token):
        changed = token[:place] + ("A" if old != "A" else "B") + token[place + 1 :]
        try:
            player = await verifier.verify_player(changed)
        except Unauthenticated:
            continue
        assert player.player_id == "p1"  # the last character of base64 may carry unused bits


async def test_a_missing_token_is_said_to_be_missing(verifier: Verifier) -> None:
    """An empty token, and metadata without one."""
    assert await refused(verifier.verify_player("")) == "TOKEN_MISSING"
    for metadata in (None, (), (("authorization", "Basic abc"),), (("authorization", "Bearer "),)):
        with pytest.raises(Unauthenticated, match="TOKEN_MISSING"):
            bearer_token(metadata)
    assert bearer_token((("x", "y"), ("authorization", "bearer abc"))) == "abc"


class Published:
    """A key set that changes or fails, and counts how often it is fetched."""

    def __init__(self, keyring: Keyring | None) -> None:
        self.keyring = keyring
        self.fetches = 0

    def __call__(self) -> str:
        self.fetches += 1
        if self.keyring is None:
            raise ConnectionRefusedError
        return json.dumps(self.keyring.jwks())


async def test_a_new_key_is_fetched_when_a_token_names_it(key: SigningKey, clock: Time) -> None:
    """Rotation: the unknown key makes a fetch; old and new keys then both hold."""
    old, new = Keyring([key], clock), Keyring([key, SigningKey.of(Ed25519PrivateKey.generate())], clock)
    published = Published(old)
    verifier = Verifier(published, now=clock, patience=0)
    await verifier.verify_player(old.issue_player_token("p1", 60))
    published.keyring = new
    assert (await verifier.verify_player(new.issue_player_token("p2", 60))).player_id == "p2"
    assert (await verifier.verify_player(old.issue_player_token("p3", 60))).player_id == "p3"
    assert published.fetches == 2


async def test_unknown_keys_do_not_make_a_fetch_each(key: SigningKey, keyring: Keyring, clock: Time) -> None:
    """A flood of tokens with made-up keys costs one fetch, also when they come together."""
    published = Published(keyring)
    verifier = Verifier(published, now=clock)
    flood = [jwt.encode(GOOD, key.private, algorithm="EdDSA", headers={"kid": f"k{n}"}) for n in range(50)]
    assert {await asyncio.create_task(refused(verifier.verify_player(token))) for token in flood} == {"TOKEN_INVALID"}
    assert published.fetches == 1
    await asyncio.gather(*(refused(verifier.verify_player(token)) for token in flood))
    assert published.fetches == 1


async def test_a_withdrawn_key_is_forgotten(clock: Time) -> None:
    """After the lifetime the set is fetched in the background, and tokens of a key that is gone stop to hold."""
    old = Keyring([SigningKey.of(Ed25519PrivateKey.generate())], clock)
    published = Published(old)
    verifier = Verifier(published, now=clock, patience=0, lifetime=0)
    token = old.issue_player_token("p1", 60)
    await verifier.verify_player(token)
    published.keyring = Keyring([SigningKey.of(Ed25519PrivateKey.generate())], clock)

    async def ask_for_ever() -> None:
        while True:
            await verifier.verify_player(token)
            await asyncio.sleep(0)  # a remembered token never waits, and the fetch needs its turn

    assert await asyncio.wait_for(refused(ask_for_ever()), 10) == "TOKEN_INVALID"


async def test_without_any_keys_the_answer_is_try_again(keyring: Keyring, clock: Time) -> None:
    """While no set could be fetched a token is neither good nor bad; later failures leave the old keys in force."""
    published = Published(None)
    verifier = Verifier(published, now=clock, patience=0, retry=0, lifetime=0)
    with pytest.raises(Unavailable, match="KEYS_UNAVAILABLE"):
        await verifier.verify_player(keyring.issue_player_token("p1", 60))
    published.keyring = keyring
    assert (await verifier.verify_player(keyring.issue_player_token("p1", 60))).player_id == "p1"
    published.keyring = None
    assert (await verifier.verify_player(keyring.issue_player_token("p2", 60))).player_id == "p2"


async def test_remembered_tokens_are_bounded_and_quick(keyring: Keyring, clock: Time) -> None:
    """The table keeps the latest; a repeated token costs microseconds, not a signature."""
    verifier = Verifier(lambda: json.dumps(keyring.jwks()), now=clock, remembered=3)
    tokens = [keyring.issue_player_token(f"p{n}", 60) for n in range(5)]
    for token in tokens:
        await verifier.verify_player(token)
    assert list(verifier._seen) == tokens[2:]
    fresh, repeated = keyring.issue_player_token("q", 60), tokens[-1]

    async def seconds(token: str) -> float:
        started = time.perf_counter()
        await verifier.verify_player(token)
        return time.perf_counter() - started

    first = await seconds(fresh)
    assert min([await seconds(repeated) for _ in range(50)]) < first / 10


async def test_keys_come_from_a_file_too(keyring: Keyring, clock: Time, tmp_path: Path) -> None:
    """The setting may be a path."""
    (tmp_path / "jwks.json").write_text(json.dumps(keyring.jwks()))
    verifier = Verifier.of(str(tmp_path / "jwks.json"), now=clock)
    assert (await verifier.verify_player(keyring.issue_player_token("p1", 60))).player_id == "p1"


def test_published_keys_hold_no_secret(key: SigningKey, keyring: Keyring) -> None:
    """The JWKS has public members only and reads back; keys of other kinds in it are passed over."""
    jwks = keyring.jwks()
    assert [set(published) for published in jwks["keys"]] == [{"kty", "crv", "x", "kid", "alg", "use"}]
    mixed = {"keys": [{"kty": "RSA", "kid": "r"}, *jwks["keys"]]}
    assert list(read_jwks(json.dumps(mixed))) == [key.kid]
    for text in ("", "[]", "{}", '{"keys": 3}', '{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "?"}]}'):
        with pytest.raises(BadKeys):
            read_jwks(text)


def test_keys_are_kept_privately_and_found_again(tmp_path: Path) -> None:
    """Made on first use with mode 0600 in a folder of mode 0700; the newest signs; a file that is no key is refused."""
    folder = tmp_path / "keys"
    first = open_keys(folder)
    assert [known.kid for known in open_keys(folder)] == [known.kid for known in first]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    (folder / "00000000000000-bad.pem").write_text("no key")
    with pytest.raises(BadKeys, match=r"bad\.pem"):
        open_keys(folder)


def _kids(folder: Path) -> list[str]:
    return [known.kid for known in open_keys(folder)]


def test_processes_that_come_together_share_one_key(tmp_path: Path) -> None:
    """Eight processes race for the first key: one makes it, and all have it."""
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.map(_kids, [tmp_path / "keys"] * 8, chunksize=1)
    assert len(found[0]) == 1
    assert all(kids == found[0] for kids in found)
