"""Tasks that live beside the calls: kept from the collector, logged when they fail, ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from services.kit.errors import DomainError
from services.kit.shell import logs

T = TypeVar("T")


def gave_up() -> bool:
    """Whether the running task was cancelled itself, in the middle of a CancelledError.

    A call whose channel is closed raises CancelledError too, though nobody has cancelled who waits for it.
    """
    waiter = asyncio.current_task()
    return waiter is None or bool(waiter.cancelling())


class Background:
    """The tasks of one component."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Run *work* as a task called *name*. If it fails unplanned, the log says so."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def finish(self, work: Coroutine[Any, Any, T], name: str) -> T:
        """Run *work* to its end even if the caller is cancelled, and return what it returns.

        For work whose consequences must follow a commit, whether or not anybody still waits for the answer.
        """
        return await asyncio.shield(self.start(work, name))

    async def close(self, grace_seconds: float = 0.0) -> None:
        """Give the tasks *grace_seconds* to end by themselves, then cancel them, and wait until all have ended."""
        if self._tasks and grace_seconds:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, DomainError):
            logs.logger().error("task_failed", task=task.get_name(), exception=logs.describe(error))
