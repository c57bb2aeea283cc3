"""grpc.health.v1. Service name "" is readiness; "liveness" serves for as long as the loop turns.

Written here and not taken from grpcio-health-checking, whose watchers never end: open streams would hold a stopping
server for its whole grace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.errors import NotFound

LIVENESS = "liveness"
"""The name that is SERVING from the process's first answer to its last."""

_SERVING: int = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: int = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN: int = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Health(health_pb2_grpc.HealthServicer):
    """What this process serves. NOT_SERVING until `ready` and from `drain` on."""

    def __init__(self, *services: str) -> None:
        """*services*: full names of gRPC services that are ready when the process is."""
        self._ready = ("", *services)
        self._status: dict[str, int] = {LIVENESS: _SERVING, **dict.fromkeys(self._ready, _NOT_SERVING)}
        self._changed = asyncio.Event()
        self._closed = False

    def ready(self) -> None:
        """Say SERVING, unless the process drains already."""
        if not self._closed:
            self._set(_SERVING)

    def drain(self) -> None:
        """Say NOT_SERVING for good, and end the watchers once they know."""
        self._closed = True
        self._set(_NOT_SERVING)

    def _set(self, status: int) -> None:
        self._status.update(dict.fromkeys(self._ready, status))
        self._changed.set()
        self._changed = asyncio.Event()

    async def Check(  # noqa: N802 - gRPC's name
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> health_pb2.HealthCheckResponse:
        """One service's status.

        Raises:
            NotFound: SERVICE_UNKNOWN.
        """
        status = self._status.get(request.service)
        if status is None:
            raise NotFound("SERVICE_UNKNOWN")
        return health_pb2.HealthCheckResponse(status=status)

    async def Watch(  # noqa: N802 - gRPC's name
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """One service's status, now and after each change, until the process drains."""
        told: int | None = None
        while True:
            changed, status = self._changed, self._status.get(request.service, _UNKNOWN)
            if status != told:
                told = status
                yield health_pb2.HealthCheckResponse(status=status)
            if self._closed:
                return
            await changed.wait()

    def register(self, server: grpc.aio.Server) -> None:
        """Add this servicer to *server*."""
        health_pb2_grpc.add_HealthServicer_to_server(self, server)
