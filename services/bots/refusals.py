"""What only the bots' process says."""

from __future__ import annotations

import grpc

from services.kit.errors import DomainError


class TooLate(DomainError):
    """The time that the caller gave is over, and nothing is decided: DEADLINE_EXCEEDED."""

    status = grpc.StatusCode.DEADLINE_EXCEEDED
