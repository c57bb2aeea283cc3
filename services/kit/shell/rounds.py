"""Work that a process does again and again beside its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

from services.kit.shell import logs


async def every(seconds: float, work: Callable[[], Awaitable[None]], *expected: type[Exception]) -> NoReturn:
    """Do *work* now and every so many seconds. *expected* failures pass in silence, others are logged; none ends it."""
    while True:
        try:
            await work()
        except Exception as error:
            if not isinstance(error, expected):
                logs.logger().error("round_failed", exception=logs.describe(error))
        await asyncio.sleep(seconds)
