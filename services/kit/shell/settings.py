"""Settings by environment: one class for every process, one more for a game service. docs/configuration.md lists them.

A field's environment variable is `TORTUGA_` and its name in capitals. A command line passes its flags on by setting
the variable for the process it starts, so there is one way in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.kit.clock import OwnClock, StoreClock

LogLevel = Literal["debug", "info", "warning", "error"]

PREFIX = "TORTUGA_"
"""What every environment variable of the platform begins with."""


class ProcessSettings(BaseSettings):
    """What every process of the platform can be told."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore")

    data: Path = Field(
        default=Path(".tortuga"),
        description="Data folder: stores, keys and logs. Made with mode 0700 if it is missing.",
    )
    log_level: LogLevel = Field(default="info", description="Least grave log lines that are written.")
    host: str = Field(default="127.0.0.1", description="Address that the gRPC and HTTP ports are bound to.")
    grpc_port: int = Field(default=7070, ge=0, le=65535, description="gRPC port; 0 takes a free one.")
    http_port: int = Field(
        default=7071,
        ge=0,
        le=65535,
        description="HTTP port: /metrics, /healthz, and what a process serves besides; 0 takes a free one.",
    )
    drain_seconds: float = Field(
        default=8.0,
        gt=0,
        lt=10,
        description="Seconds that SIGTERM leaves for finishing; whatever still runs then is cut off.",
    )
    clock: Path | None = Field(
        default=None,
        description="File with an offset in seconds that is added to the store's clock. For tests.",
    )
    clock_skew: float = Field(
        default=0.0,
        description="Seconds by which the process's own clock is false; entries never come from that one. For tests.",
    )

    def data_folder(self) -> Path:
        """The data folder, made if it is missing, for nobody else to read."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.data

    def store_clock(self) -> StoreClock:
        """The clock that entries and `wake_at` are written by."""
        return StoreClock(self.clock)

    def own_clock(self) -> OwnClock:
        """The process's own, possibly false clock."""
        return OwnClock(self.clock_skew)


class ServiceSettings(ProcessSettings):
    """What a game service can be told besides."""

    grpc_port: int = Field(default=7101, ge=0, le=65535, description="gRPC port; 0 takes a free one.")
    http_port: int = Field(
        default=7102,
        ge=0,
        le=65535,
        description="HTTP port: /metrics and /healthz; 0 takes a free one.",
    )
    store: str = Field(
        default="",
        description="Path of the match log's SQLite file. Empty: the game's id with .db in the data folder.",
    )
    jwks: str = Field(
        default="http://127.0.0.1:7071/.well-known/jwks.json",
        description="Where the public keys of the gateway's tokens are read: an http(s) URL, or the path of a file.",
    )

    def store_path(self, game: str) -> Path:
        """Where the match log of *game* is kept."""
        return Path(self.store) if self.store else self.data_folder() / f"{game}.db"
