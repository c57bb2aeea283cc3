"""Errors: raised in the domain, translated to gRPC in one table (`STATUS`).

An error carries its stable `reason` (the status message on the wire) and parameters (`google.rpc.ErrorInfo.metadata`).
Texts for people are the clients' business.
"""

from __future__ import annotations

from collections.abc import Mapping

import grpc

from services.kit.rules import IllegalAction, InvalidAction, InvalidOptions, RuleError

DOMAIN = "tortuga"


class DomainError(Exception):
    """A refusal that reaches the caller: *reason* is a stable code, *params* come from what the caller may know."""

    status = grpc.StatusCode.UNKNOWN

    def __init__(self, reason: str, **params: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.params = {name: str(value) for name, value in params.items()}


class Malformed(DomainError):
    """The request itself is wrong, whatever the state of things: INVALID_ARGUMENT."""

    status = grpc.StatusCode.INVALID_ARGUMENT


class Unauthenticated(DomainError):
    """No token, or one that does not hold: UNAUTHENTICATED."""

    status = grpc.StatusCode.UNAUTHENTICATED


class Forbidden(DomainError):
    """A known caller who may not do this: PERMISSION_DENIED."""

    status = grpc.StatusCode.PERMISSION_DENIED


class NotFound(DomainError):
    """No such thing, or none that the caller may know of: NOT_FOUND."""

    status = grpc.StatusCode.NOT_FOUND


class Refusal(DomainError):
    """The state of things does not allow it: FAILED_PRECONDITION."""

    status = grpc.StatusCode.FAILED_PRECONDITION


class Conflict(DomainError):
    """The request was overtaken by another; look again and decide anew: ABORTED."""

    status = grpc.StatusCode.ABORTED


class AlreadyUsed(DomainError):
    """An id was used before with other content: ALREADY_EXISTS."""

    status = grpc.StatusCode.ALREADY_EXISTS


class Exhausted(DomainError):
    """A limit was reached; `retry_after_ms` says when to try again: RESOURCE_EXHAUSTED."""

    status = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unavailable(DomainError):
    """Nothing is known to have changed, or it is not known yet; repeat with the same id: UNAVAILABLE."""

    status = grpc.StatusCode.UNAVAILABLE


class NotServed(DomainError):
    """In the contract, but not served by this release: UNIMPLEMENTED."""

    status = grpc.StatusCode.UNIMPLEMENTED


class Internal(DomainError):
    """Something unplanned; `id` finds the log line: INTERNAL."""

    status = grpc.StatusCode.INTERNAL


class Relayed(DomainError):
    """A refusal that another part of the platform made, passed on with its own status."""

    def __init__(self, code: int, reason: str, params: Mapping[str, str]) -> None:
        super().__init__(reason, **params)
        self.status = _BY_NUMBER.get(code, grpc.StatusCode.UNKNOWN)


_BY_NUMBER = {status.value[0]: status for status in grpc.StatusCode}

RULES_STATUS: Mapping[type[RuleError], grpc.StatusCode] = {
    InvalidAction: grpc.StatusCode.INVALID_ARGUMENT,
    IllegalAction: grpc.StatusCode.FAILED_PRECONDITION,
    InvalidOptions: grpc.StatusCode.INVALID_ARGUMENT,
}
"""The rules know no gRPC, so their errors are mapped here."""


def status_of(error: DomainError | RuleError) -> grpc.StatusCode:
    """The canonical status of *error*."""
    if isinstance(error, DomainError):
        return error.status
    return RULES_STATUS.get(type(error), grpc.StatusCode.FAILED_PRECONDITION)


def code_number(status: grpc.StatusCode) -> int:
    """*status* as google.rpc.Code numbers it."""
    number: int = status.value[0]
    return number
