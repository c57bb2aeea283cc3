"""What passes between the bots' process and its workers: frames, each a length and so many bytes.

Down: a question, which is the milliseconds that are left and a SuggestRequest. Up: READY once, then one answer to each
question, which is a SuggestResponse or, for a refusal, a google.rpc.Status.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

from google.protobuf.any_pb2 import Any
from google.rpc import error_details_pb2, status_pb2

from services.kit.errors import DomainError, Relayed, status_of
from services.kit.rules import RuleError
from services.kit.shell.interceptors import details
from tortuga.bots.v1.bot_service_pb2 import SuggestRequest, SuggestResponse

LENGTH = struct.Struct(">I")
"""In front of a frame."""

READY = b"R"
"""The worker has loaded what it needs."""

_LEFT_MS = struct.Struct(">I")
_ADVICE, _REFUSAL = b"A", b"N"


def framed(content: bytes) -> bytes:
    """*content* with its length in front."""
    return LENGTH.pack(len(content)) + content


def read_frame(pipe: BinaryIO) -> bytes | None:
    """The next frame's content; None if the other side has closed the pipe, or is cut off within a frame."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = pipe.read(length)
    return content if len(content) == length else None


def question(left_seconds: float, request: bytes) -> bytes:
    """A question: the bytes of a SuggestRequest, and the time that is left for it."""
    return _LEFT_MS.pack(max(0, round(left_seconds * 1000))) + request


def read_question(content: bytes) -> tuple[int, SuggestRequest]:
    """The milliseconds that are left, and the request."""
    (left_ms,) = _LEFT_MS.unpack_from(content)
    return left_ms, SuggestRequest.FromString(content[_LEFT_MS.size :])


def advice(response: SuggestResponse) -> bytes:
    """An answer that brings advice."""
    return _ADVICE + response.SerializeToString()


def refusal(error: DomainError | RuleError) -> bytes:
    """An answer that refuses."""
    return _REFUSAL + details(status_of(error), error.reason, error.params)


def read_answer(content: bytes) -> SuggestResponse:
    """The advice in an answer.

    Raises:
        Relayed: the refusal in it.
    """
    if content[:1] == _ADVICE:
        return SuggestResponse.FromString(content[1:])
    status = status_pb2.Status.FromString(content[1:])
    info = error_details_pb2.ErrorInfo()
    packed: Any = status.details[0]
    packed.Unpack(info)
    raise Relayed(status.code, info.reason, info.metadata)
