"""A saved sign-in: who the player is, and the tokens, in a small JSON file that only its owner may read."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Self

_LONGEST = 64 * 1024


@dataclass
class Profile:
    """One player on one platform. Change the fields and `save`; a `Client` that was given one does so by itself."""

    path: Path
    """Where it is kept."""
    target: str = ""
    """The platform it belongs to, "host:port"; a sign-in elsewhere replaces it."""
    player_id: str = ""
    """Who; empty before the first sign-in."""
    display_name: str = ""
    """As the platform has it."""
    access_token: str = field(default="", repr=False)
    """The newest access token."""
    refresh_token: str = field(default="", repr=False)
    """The newest refresh token."""

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The profile at *path*; an empty one if there is none, or what is there does not read.

        By default the environment's TORTUGA_PROFILE, else tortuga/profile.json in $XDG_CONFIG_HOME or ~/.config.
        """
        path = path or default_path()
        profile = cls(path)
        try:
            with path.open(encoding="utf-8") as file:
                found = json.loads(file.read(_LONGEST))
        except (OSError, ValueError):
            return profile
        for known in fields(cls):
            value = found.get(known.name) if isinstance(found, dict) else None
            if known.name != "path" and isinstance(value, str):
                setattr(profile, known.name, value)
        return profile

    def save(self) -> None:
        """Write it: whole or not at all, durable, mode 0600. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {name: value for name, value in asdict(self).items() if name != "path"}
        fresh = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(kept, file, indent=1)
                file.flush()
                os.fsync(descriptor)
            fresh.replace(self.path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def forget(self) -> None:
        """Remove the file and what it held."""
        self.target = self.player_id = self.display_name = self.access_token = self.refresh_token = ""
        self.path.unlink(missing_ok=True)


def default_path() -> Path:
    """Where a profile is kept unless said otherwise."""
    if chosen := os.environ.get("TORTUGA_PROFILE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tortuga" / "profile.json"
