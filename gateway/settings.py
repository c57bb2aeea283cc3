"""The gateway's settings; docs/configuration.md lists them with those that every process has."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from gateway.discovery.port import Pod
from gateway.discovery.static import parse_services
from services.kit.shell.settings import ProcessSettings


class GatewaySettings(ProcessSettings):
    """What the gateway can be told."""

    services: str = Field(
        default="",
        description="Static discovery: which pods there are, `game=host:port,host:port;other=host:port`.",
    )
    bots: str = Field(
        default="",
        pattern=r"^(\S+:\d{1,5})?$",
        description="Where the bots' gRPC server is, `host:port`. Empty: there are no bots.",
    )
    token_seconds: int = Field(
        default=15 * 60,
        ge=60,
        le=7 * 24 * 3600,
        description="Seconds that an access token is good for.",
    )
    refresh_days: int = Field(
        default=30,
        ge=1,
        le=366,
        description="Days that a refresh token is good for; each use begins them anew.",
    )
    key_days: int = Field(
        default=30,
        ge=0,
        le=3660,
        description="Days after which a new signing key is made; 0 for never, then `tortuga keys rotate` does.",
    )
    start_seconds: int = Field(
        default=20,
        ge=1,
        le=600,
        description="Seconds from the making of a ticket's match until absent players abort it.",
    )
    ticket_seconds: float = Field(
        default=15.0,
        ge=0.1,
        le=3600,
        description="Seconds that a waiting ticket lives without a stream or a poll.",
    )
    tickets_per_player: int = Field(
        default=10,
        ge=1,
        le=100,
        description="Tickets that one player may have waiting at a time.",
    )
    ticket_keep_hours: int = Field(
        default=48,
        ge=1,
        description="Hours that a settled ticket, and with it its request_id, is remembered.",
    )
    order_wait_seconds: float = Field(
        default=5.0,
        gt=0,
        le=30,
        description="Seconds that an attachment waits for a match which is being made, before MATCH_STARTING.",
    )

    @field_validator("services")
    @classmethod
    def _readable(cls, text: str) -> str:
        parse_services(text)
        return text

    def pods(self) -> tuple[Pod, ...]:
        """The pods that `services` names."""
        return parse_services(self.services)

    def store_path(self) -> Path:
        """Where the gateway's own store is kept."""
        return self.data_folder() / "gateway.db"
