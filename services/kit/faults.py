"""What nobody planned: the caller gets a bare INTERNAL with an id, the log line under that id types and places."""

from __future__ import annotations

import secrets

from services.kit.errors import Internal
from services.kit.shell import logs


def unplanned(error: Exception, match_id: str, revision: int = 0) -> Internal:
    """Log *error* without its arguments and return what its caller is told."""
    error_id = secrets.token_hex(8)
    logs.logger().error(
        "internal_error",
        error_id=error_id,
        match_id=match_id,
        revision=revision,
        exception=logs.describe(error),
    )
    return Internal("INTERNAL", id=error_id)
