"""Signing keys: Ed25519, in the data folder, shared by all gateways that share it; the public half as a JWKS."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

Jwks: TypeAlias = dict[str, list[dict[str, str]]]


class BadKeys(ValueError):
    """A key file or a key set that does not read. Says where, never what."""


@dataclass(frozen=True)
class SigningKey:
    """A key pair and its id: the first 16 characters of the public half's RFC 7638 thumbprint."""

    kid: str
    private: Ed25519PrivateKey
    made_ms: int = 0
    """When it was made, milliseconds since 1970, by the name of its file."""

    @classmethod
    def of(cls, private: Ed25519PrivateKey, made_ms: int = 0) -> SigningKey:
        """Name *private*."""
        canonical = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": _x(private.public_key())}, separators=(",", ":"))
        return cls(_base64url(hashlib.sha256(canonical.encode()).digest())[:16], private, made_ms)

    def public(self) -> dict[str, str]:
        """The public half as a JWK."""
        own = {"kty": "OKP", "crv": "Ed25519", "x": _x(self.private.public_key())}
        return {**own, "kid": self.kid, "alg": "EdDSA", "use": "sig"}


def open_keys(folder: Path) -> list[SigningKey]:
    """The keys in *folder*, oldest first; `services.kit.tokens.Keyring` says which one signs.

    Makes the folder (0700) and a first key (0600) if need be. Several processes may come at once: one makes the key and
    all read it.

    Raises:
        BadKeys: a file in the folder is no Ed25519 key.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keys = _read(folder)
    if not keys:
        with _only_one(folder):
            keys = _read(folder)
            if not keys:
                _write(folder, Ed25519PrivateKey.generate(), time.time_ns() // 1_000_000)
                keys = _read(folder)
    return keys


def add_key(folder: Path, now_ms: int, *, newest_before_ms: int | None = None) -> bool:
    """Make a new key as of *now_ms*; with *newest_before_ms* only if none in the folder is as young as that.

    So of several processes that find the keys old at the same time one makes a new one. Returns whether this one did.

    Raises:
        BadKeys: as `open_keys`.
        OSError: the folder cannot be written.
    """
    open_keys(folder)
    with _only_one(folder):
        keys = _read(folder)
        if newest_before_ms is not None and keys[-1].made_ms >= newest_before_ms:
            return False
        _write(folder, Ed25519PrivateKey.generate(), max(now_ms, keys[-1].made_ms + 1))
    return True


def remove_keys(folder: Path, before_ms: int) -> list[str]:
    """Remove every key whose successor was made before *before_ms*; returns their ids. The newest always stays.

    Raises:
        BadKeys: as `open_keys`.
        OSError: the folder cannot be written.
    """
    removed: list[str] = []
    with _only_one(folder):
        for (path, key), (_, successor) in pairwise(_by_file(folder)):
            if successor.made_ms < before_ms:
                path.unlink(missing_ok=True)
                removed.append(key.kid)
        _sync(folder)
    return removed


def read_jwks(text: str | bytes) -> dict[str, Ed25519PublicKey]:
    """Public keys by id. Keys of other kinds are passed over, as RFC 7517 asks.

    Raises:
        BadKeys: this is no key set.
    """
    try:
        found = json.loads(text)["keys"]
        ours = [key for key in found if key.get("kty") == "OKP" and key.get("crv") == "Ed25519" and key.get("kid")]
        return {str(key["kid"]): Ed25519PublicKey.from_public_bytes(_unbase64url(key["x"])) for key in ours}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadKeys("no JWKS") from error


def _read(folder: Path) -> list[SigningKey]:
    return [key for _, key in _by_file(folder)]


def _by_file(folder: Path) -> list[tuple[Path, SigningKey]]:
    keys: list[tuple[Path, SigningKey]] = []
    for path in sorted(folder.glob("*.pem")):
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except FileNotFoundError:
            continue  # another process has just removed it
        except (ValueError, TypeError) as error:
            raise BadKeys(str(path)) from error
        if not isinstance(private, Ed25519PrivateKey):
            raise BadKeys(str(path))
        stamp = path.name.partition("-")[0]
        keys.append((path, SigningKey.of(private, int(stamp) if stamp.isascii() and stamp.isdigit() else 0)))
    return keys


def _write(folder: Path, private: Ed25519PrivateKey, made_ms: int) -> None:
    """Make *private* durable under a name that sorts after all older ones."""
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    fresh = folder / f".{secrets.token_hex(8)}.new"
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(descriptor)
    fresh.rename(folder / f"{made_ms:014d}-{SigningKey.of(private).kid}.pem")
    _sync(folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it is freed with the process, however that ends."""
    descriptor = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _x(public: Ed25519PublicKey) -> str:
    return _base64url(public.public_bytes(Encoding.Raw, PublicFormat.Raw))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unbase64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
