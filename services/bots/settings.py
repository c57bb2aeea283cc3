"""Settings of the bots' process; docs/configuration.md lists them with those that every process has."""

from __future__ import annotations

import os

from pydantic import Field

from services.kit.shell.settings import ProcessSettings


class BotsSettings(ProcessSettings):
    """What the bots' process can be told besides."""

    grpc_port: int = Field(
        default=7072,
        ge=0,
        le=65535,
        description="gRPC port, 0 for a free one. Nobody but the platform's own processes may reach it (ADR 0005).",
    )
    http_port: int = Field(
        default=7073,
        ge=0,
        le=65535,
        description="HTTP port: /metrics and /healthz; 0 takes a free one.",
    )
    bot_workers: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Worker processes in which bots think; 0 for one less than there are CPUs, at least one.",
    )
    bot_queue: int = Field(
        default=64,
        ge=2,
        le=4096,
        description="Questions that may wait for a free worker, before BOTS_BUSY; half of them may ask for advice.",
    )

    def workers(self) -> int:
        """How many worker processes there are to be."""
        return self.bot_workers or max(1, len(os.sched_getaffinity(0)) - 1)
