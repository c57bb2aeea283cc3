"""Cancelling a coroutine at a chosen one of its awaits, as a caller that goes away would."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from typing import Any


async def cancel_at(number: int, work: Coroutine[Any, Any, Any]) -> bool:
    """Run *work* as a task of its own and cancel it when it waits for the *number*-th time, from 0.

    Returns whether it waited that often; else it ended by itself.
    """
    waits = _Waits(number)
    task = asyncio.ensure_future(waits.count(work))
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise
    if not task.cancelled():
        task.exception()  # looked at: how the work ends is not the test's affair
    return waits.reached


class _Waits:
    def __init__(self, number: int) -> None:
        self._number = number
        self._seen = 0
        self.reached = False

    async def count(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await self._drive(work)

    @types.coroutine
    def _drive(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass on everything that *work* waits for, noticing when the time has come."""
        try:
            waited = work.send(None)
            while True:
                self._note()
                try:
                    value = yield waited
                except BaseException as error:
                    waited = work.throw(error)
                else:
                    waited = work.send(value)
        except StopIteration as stop:
            return stop.value

    def _note(self) -> None:
        if self._seen == self._number:
            self.reached = True
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)
        self._seen += 1
