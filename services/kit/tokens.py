"""The platform's tokens: JWTs signed by the gateway with EdDSA, and nothing else.

Two kinds, told apart by their audience: a player's (`aud` "tortuga", `sub` the player's id) and a link's (`aud` the
game, `sub` "gateway"). Neither passes for the other. Times are the machine's, in whole seconds inside a token.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import time
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from services.kit.errors import Unauthenticated, Unavailable
from services.kit.keys import BadKeys, Jwks, SigningKey, add_key, open_keys, read_jwks, remove_keys

ISSUER = "tortuga"
PLAYER_AUDIENCE = "tortuga"
SERVICE_SUBJECT = "gateway"

_ALGORITHM = "EdDSA"
_LONGEST_TOKEN = 4096
_LONGEST_JWKS = 1 << 20
_DOWNLOAD_SECONDS = 3
_REQUIRED = ["iss", "aud", "sub", "iat", "exp"]

Clock: TypeAlias = Callable[[], float]
Claims: TypeAlias = dict[str, Any]


class VerifiedPlayer(NamedTuple):
    """Whose token it is, and until when it holds (milliseconds since 1970)."""

    player_id: str
    expires_ms: int


PUBLISHED_FIRST_SECONDS = 60
"""How long a new key is published before it signs. Every gateway reads the folder again several times meanwhile, so
that all publish it by the time that one signs with it."""


class Keyring:
    """Issues tokens. All its keys are published; the newest that has been so for long enough signs.

    `rotate` and `retire` change the folder, `reload` reads it again; a ring over keys without a folder never changes.
    """

    def __init__(self, keys: list[SigningKey], now: Clock = time.time, folder: Path | None = None) -> None:
        """*keys* oldest first, at least one; *now* in seconds since 1970; *folder* is where they came from."""
        self._keys = keys
        self._now = now
        self._folder = folder

    @classmethod
    def open(cls, data: Path, now: Clock = time.time) -> Keyring:
        """The ring in the data folder (`keys/`), made on first use. Any number of processes may do so at once.

        Raises:
            BadKeys: a file there is no key.
        """
        return cls(open_keys(data / "keys"), now, data / "keys")

    def jwks(self) -> Jwks:
        """The public keys, as they are served under /.well-known/jwks.json."""
        return {"keys": [key.public() for key in self._keys]}

    def reload(self) -> None:
        """Read the folder again, where other processes may have changed it. May block for as long as a disk does.

        Raises:
            BadKeys: a file there is no key; OSError: it cannot be read. The keys stay as they were.
        """
        if self._folder is not None:
            self._keys = open_keys(self._folder)

    def rotate(self, older_than_seconds: float | None = None) -> bool:
        """Make a new key, which signs after PUBLISHED_FIRST_SECONDS; with an age, only if the newest is older.

        Returns whether one was made. Raises as `reload`.
        """
        if self._folder is None:
            return False
        now_ms = int(self._now() * 1000)
        limit = None if older_than_seconds is None else now_ms - int(older_than_seconds * 1000)
        made = add_key(self._folder, now_ms, newest_before_ms=limit)
        self.reload()
        return made

    def retire(self, token_seconds: float) -> list[str]:
        """Remove keys whose last tokens, good for *token_seconds*, have expired; returns their ids. Raises as `reload`.

        A minute more is left for clocks that differ and for streams, which outlive their tokens by that.
        """
        if self._folder is None:
            return []
        unneeded_seconds = PUBLISHED_FIRST_SECONDS + token_seconds + 60
        removed = remove_keys(self._folder, int((self._now() - unneeded_seconds) * 1000))
        if removed:
            self.reload()
        return removed

    def issue_player_token(self, player_id: str, seconds: int) -> str:
        """A token that names *player_id* for *seconds*."""
        return self._issue(PLAYER_AUDIENCE, player_id, seconds)

    def issue_service_token(self, game: str, seconds: int = 300) -> str:
        """A token that opens links to services of *game* for *seconds*."""
        if game == PLAYER_AUDIENCE:
            raise ValueError("a game of this name would let players' tokens open links")
        return self._issue(game, SERVICE_SUBJECT, seconds)

    def _issue(self, audience: str, subject: str, seconds: int) -> str:
        now = int(self._now())
        claims: Claims = {"iss": ISSUER, "aud": audience, "sub": subject, "iat": now, "exp": now + seconds}
        key = self._signing()
        return jwt.encode(claims, key.private, algorithm=_ALGORITHM, headers={"kid": key.kid})

    def _signing(self) -> SigningKey:
        published_by = (self._now() - PUBLISHED_FIRST_SECONDS) * 1000
        ready = (key for key in reversed(self._keys) if key.made_ms <= published_by)
        return next(ready, self._keys[0])  # the very first key has no predecessor to sign meanwhile


class Verifier:
    """Checks tokens against a key set that may change.

    Keys are fetched when first needed, again when a token names an unknown one (at most every *patience* seconds), and
    every *lifetime* seconds in the background, so that a withdrawn key is forgotten; while they cannot be had, the old
    ones serve on. A token seen before costs a look into a table of the last *remembered* ones.
    """

    def __init__(
        self,
        fetch: Callable[[], str | bytes],
        *,
        now: Clock = time.time,
        remembered: int = 20_000,
        patience: float = 3.0,
        retry: float = 0.5,
        lifetime: float = 300.0,
    ) -> None:
        """*fetch* returns a JWKS, may block (it runs in a thread), and raises OSError if it cannot.

        *retry*: seconds after a failed fetch in which none is tried.
        """
        self._fetch = fetch
        self._now = now
        self._remembered = remembered
        self._patience = patience
        self._retry = retry
        self._lifetime = lifetime
        self._keys: dict[str, Ed25519PublicKey] = {}
        self._seen: OrderedDict[str, VerifiedPlayer] = OrderedDict()
        self._fetching: asyncio.Task[None] | None = None
        self._not_before = float("-inf")
        self._stale_at = float("-inf")

    @classmethod
    def of(cls, jwks: str, *, now: Clock = time.time) -> Verifier:
        """A verifier by the setting TORTUGA_JWKS: an http(s) URL, or the path of a file."""
        if jwks.startswith(("http://", "https://")):
            return cls(lambda: _download(jwks), now=now)
        return cls(Path(jwks).read_bytes, now=now)

    @classmethod
    def of_keyring(cls, keyring: Keyring, *, now: Clock = time.time) -> Verifier:
        """A verifier for the process that issues the tokens itself."""
        return cls(lambda: json.dumps(keyring.jwks()), now=now)

    async def verify_player(self, token: str) -> VerifiedPlayer:
        """Whose token this is.

        Raises:
            Unauthenticated: TOKEN_MISSING (empty), TOKEN_EXPIRED, or TOKEN_INVALID for everything else.
            Unavailable: KEYS_UNAVAILABLE, no key set could be fetched yet.
        """
        known = self._seen.get(token)
        if known is not None:
            self._seen.move_to_end(token)
            if time.monotonic() >= self._stale_at:
                self._refresh()
            if known.expires_ms <= self._now() * 1000:
                raise Unauthenticated("TOKEN_EXPIRED")
            return known
        claims = await self._verify(token, PLAYER_AUDIENCE)
        player = VerifiedPlayer(claims["sub"], claims["exp"] * 1000)
        self._seen[token] = player
        if len(self._seen) > self._remembered:
            self._seen.popitem(last=False)
        return player

    async def verify_service(self, token: str, game: str) -> int:
        """Check that *token* opens a link to *game*; returns when it expires, in milliseconds since 1970.

        Raises:
            Unauthenticated, Unavailable: as `verify_player`.
        """
        claims = await self._verify(token, game)
        if claims["sub"] != SERVICE_SUBJECT:
            raise Unauthenticated("TOKEN_INVALID")
        return int(claims["exp"]) * 1000

    async def _verify(self, token: str, audience: str) -> Claims:
        if not token:
            raise Unauthenticated("TOKEN_MISSING")
        key = await self._key(_kid(token))
        try:
            claims: Claims = jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                audience=audience,
                issuer=ISSUER,
                # Expiry is checked below, by the clock that was given; iat may lie ahead by another machine's clock.
                options={"require": _REQUIRED, "strict_aud": True, "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError:
            raise Unauthenticated("TOKEN_INVALID") from None
        expires = claims["exp"]
        if not isinstance(expires, int) or isinstance(expires, bool) or not claims["sub"]:
            raise Unauthenticated("TOKEN_INVALID")
        if expires <= self._now():
            raise Unauthenticated("TOKEN_EXPIRED")
        return claims

    async def _key(self, kid: str) -> Ed25519PublicKey:
        if time.monotonic() >= self._stale_at or kid not in self._keys:
            fetching = self._refresh()
            if fetching is not None and kid not in self._keys:
                await asyncio.shield(fetching)
        if key := self._keys.get(kid):
            return key
        if not self._keys:
            raise Unavailable("KEYS_UNAVAILABLE")
        raise Unauthenticated("TOKEN_INVALID")

    def _refresh(self) -> asyncio.Task[None] | None:
        """The fetch that is under way, or a new one; None if it is too early for one."""
        if self._fetching is None and time.monotonic() >= self._not_before:
            self._fetching = asyncio.create_task(self._fetch_keys(), name="fetch keys")
        return self._fetching

    async def _fetch_keys(self) -> None:
        try:
            keys = read_jwks(await asyncio.to_thread(self._fetch))
        except (OSError, BadKeys):
            self._not_before = time.monotonic() + self._retry
        else:
            if keys.keys() != self._keys.keys():
                self._seen.clear()
            self._keys = keys
            self._not_before = time.monotonic() + self._patience
            self._stale_at = time.monotonic() + self._lifetime
        finally:
            self._fetching = None


def bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """The token in gRPC metadata's `authorization: Bearer …`.

    Raises:
        Unauthenticated: TOKEN_MISSING.
    """
    for key, value in metadata or ():
        if key.lower() == "authorization" and isinstance(value, str):
            scheme, _, token = value.partition(" ")
            if scheme.lower() == "bearer" and token.strip():
                return token.strip()
    raise Unauthenticated("TOKEN_MISSING")


def _kid(token: str) -> str:
    if len(token) > _LONGEST_TOKEN:
        raise Unauthenticated("TOKEN_INVALID")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError:
        raise Unauthenticated("TOKEN_INVALID") from None
    kid = header.get("kid")
    if header.get("alg") != _ALGORITHM or not isinstance(kid, str) or not kid:
        raise Unauthenticated("TOKEN_INVALID")
    return kid


def _download(url: str) -> bytes:
    """Read a JWKS from *url*, past any proxy: the gateway is a neighbour.

    Raises:
        OSError: not reached, or not answered with 200.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_DOWNLOAD_SECONDS) as answer:
            body: bytes = answer.read(_LONGEST_JWKS)
            return body
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP from {url}") from error
