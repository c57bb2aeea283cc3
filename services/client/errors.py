"""What can go wrong for a client, as types. The platform says codes and parameters; texts are found by them."""

from __future__ import annotations

from collections.abc import Mapping

import grpc
from google.rpc import error_details_pb2, status_pb2

from tortuga.play.v1 import play_pb2

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_BROKEN = {"INTERNAL", "UNKNOWN", "CANCELLED", "DEADLINE_EXCEEDED", "UNIMPLEMENTED"}


class ClientError(Exception):
    """Everything that the client library raises by itself."""


class Refused(ClientError):
    """The platform said no: *reason* (a stable code), canonical *code*, and *metadata*, the reason's parameters."""

    def __init__(self, reason: str, code: grpc.StatusCode, metadata: Mapping[str, str]) -> None:
        super().__init__(f"{code.name} {reason}", dict(metadata))
        self.reason, self.code, self.metadata = reason, code, dict(metadata)

    @staticmethod
    def by_message(refused: play_pb2.Refused) -> Refused:
        """What a stream's `refused` says."""
        return _typed(refused.reason, _STATUS.get(refused.code, grpc.StatusCode.UNKNOWN), refused.metadata)

    @staticmethod
    def by_status(error: grpc.aio.AioRpcError) -> Refused:
        """What a failed call says: the ErrorInfo in its details, else its bare status."""
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin" and isinstance(value, bytes):
                for detail in status_pb2.Status.FromString(value).details:
                    if detail.Unpack(info := error_details_pb2.ErrorInfo()):
                        return _typed(info.reason, error.code(), info.metadata)
        return _typed(error.details() or "", error.code(), {})

    @property
    def retryable(self) -> bool:
        """Whether the same request with the same id may succeed a moment later."""
        return self.code is grpc.StatusCode.UNAVAILABLE or self.reason == "CONTENDED" or self.retry_after > 0

    @property
    def broken(self) -> bool:
        """Whether the way to the platform broke, or does not lead to the game yet: worth a new stream."""
        return self.retryable or self.code.name in _BROKEN

    @property
    def retry_after(self) -> float:
        """Seconds that the platform asks to wait; 0 if it does not say."""
        text = self.metadata.get("retry_after_ms", "")
        return int(text) / 1000 if text.isascii() and text.isdigit() else 0.0


class TokenExpired(Refused):
    """The access token has expired: sign in again."""


class TicketEnded(ClientError):
    """The ticket ended without a match; the argument says how, e.g. "EXPIRED"."""


class Unreachable(ClientError):
    """The platform gave no sign of life for as long as patience lasts; the cause is the last failure."""


class OutcomeUnknown(ClientError):
    """No answer in time; the argument is the action's id: acting again under it settles whether it is durable."""


class ProtocolFault(ClientError):
    """The platform broke its contract; the argument is a code: GAP, HISTORY_REWOUND, WRONG_MATCH."""


class FairnessFault(ClientError):
    """A commitment was not kept; the argument is a code: COMMITMENT_CHANGED, SEED_MISMATCH."""


def _typed(reason: str, code: grpc.StatusCode, metadata: Mapping[str, str]) -> Refused:
    return (TokenExpired if reason == "TOKEN_EXPIRED" else Refused)(reason, code, metadata)
