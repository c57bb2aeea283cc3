"""Every metric of the platform that exists now, defined once (names and meaning: design §7, docs/operations).

Series with labels are handed out by cached functions, because finding a labelled child costs twice as much as counting
on it. Labels take few values: game ids, outcome codes, causes; never an id of a match or a player.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # the package forgot it; else each counter has a second series

_FAST = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bucket bounds in seconds for things that take about a millisecond when all is well."""

_ACTION_SECONDS = Histogram(
    "tortuga_action_seconds",
    "Seconds from an action's frame in at the gateway to its answer out.",
    ("game", "outcome"),
    buckets=_FAST,
)
_REHOMED = Counter(
    "tortuga_attachments_rehomed_total",
    "Attachments moved to another link or pod, by what made it necessary.",
    ("cause",),
)

_RESUME_SECONDS = Histogram(
    "tortuga_resume_seconds",
    "Seconds from the loss of an attachment to the first answer of the one that took its place, by cause.",
    ("cause",),
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 20, 60),
)

_BOT_SECONDS = Histogram(
    "tortuga_bot_seconds",
    "Seconds for which a bot thought about one question, until it answered, was cut off or died.",
    ("game", "bot"),
    buckets=_FAST,
)

MATCHES_LIVE = Gauge("tortuga_matches_live", "Matches loaded in this process that have not ended.")
"""Matches loaded in this process that have not ended."""

ACTIONS = Counter("tortuga_actions_total", "Actions accepted and made durable by this process.")
"""Actions accepted and made durable by this process."""

APPEND_SECONDS = Histogram("tortuga_append_seconds", "Seconds of one group commit to the log.", buckets=_FAST)
"""Seconds of one group commit to the log."""

APPEND_BATCH = Histogram(
    "tortuga_append_batch",
    "Entries in one group commit.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
"""Entries in one group commit."""

LINK_BATCH = Histogram(
    "tortuga_link_batch",
    "Frames in one link message that took credit, by the process that sent it.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
"""Frames in one link message that took credit, by the process that sent it."""

APPEND_CONFLICTS = Counter("tortuga_append_conflicts_total", "Entries dropped because another was written first.")
"""Entries dropped because another was written first."""

OUTCOMES_SETTLED = Counter(
    "tortuga_outcomes_settled_total",
    "Entries whose fate was unknown after a broken commit and is now known.",
)
"""Entries whose fate was unknown after a broken commit and is now known."""

DUPLICATE_ACTIONS = Counter("tortuga_duplicate_actions_total", "Actions answered from the log: the id was known.")
"""Actions answered from the log: the id was known."""

REPLAY_DIVERGENCE = Counter("tortuga_replay_divergence_total", "Stored entries that did not replay.")
"""Stored entries that did not replay."""

FOLD_SECONDS = Histogram("tortuga_fold_seconds", "Seconds of folding one match from its log.", buckets=_FAST)
"""Seconds of folding one match from its log."""

ATTACHMENTS = Gauge("tortuga_attachments", "Attachments open in this process.")
"""Attachments open in this process."""

TICKET_WAIT_SECONDS = Histogram(
    "tortuga_ticket_wait_seconds",
    "Seconds from a ticket's creation to its match.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600),
)
"""Seconds from a ticket's creation to its match."""

LOOP_STALL_SECONDS = Histogram(
    "tortuga_loop_stall_seconds",
    "Times that the event loop stood still for more than 50 ms, in seconds.",
    buckets=(0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 30),
)
"""Times that the event loop stood still for more than 50 ms, in seconds."""

_GRPC_LABELS = ("grpc_type", "grpc_service", "grpc_method")
_GRPC_HANDLED = Counter(
    "grpc_server_handled_total",
    "RPCs completed on the server, by code.",
    (*_GRPC_LABELS, "grpc_code"),
)
_GRPC_HANDLING = Histogram(
    "grpc_server_handling_seconds",
    "Seconds of unary RPCs on the server.",
    _GRPC_LABELS,
    buckets=_FAST,
)


class Rpc(NamedTuple):
    """A method in the conventional labels; *type* is unary, server_stream, client_stream or bidi_stream."""

    type: str
    service: str
    method: str


@cache
def action_seconds(game: str, outcome: str) -> Histogram:
    """Seconds of actions of *game* that ended in *outcome* (`applied`, or a refusal's kind: few values)."""
    return _ACTION_SECONDS.labels(game, outcome)


@cache
def resume_seconds(cause: str) -> Histogram:
    """Seconds for which attachments were lost because of *cause* (as of `attachments_rehomed`)."""
    return _RESUME_SECONDS.labels(cause)


@cache
def bot_seconds(game: str, bot: str) -> Histogram:
    """Seconds for which the bots of *game* think at the level *bot*."""
    return _BOT_SECONDS.labels(game, bot)


@cache
def attachments_rehomed(cause: str) -> Counter:
    """Attachments moved because of *cause* (`drain`, `link_lost`, …: few values)."""
    return _REHOMED.labels(cause)


@cache
def grpc_handled(rpc: Rpc, code: str) -> Counter:
    """Completed calls of *rpc* that ended in the status *code*, as gRPC spells it in Go (`OK`, `NotFound`)."""
    return _GRPC_HANDLED.labels(*rpc, code)


@cache
def grpc_handling(rpc: Rpc) -> Histogram:
    """Seconds of the unary method *rpc*."""
    return _GRPC_HANDLING.labels(*rpc)
