"""Marks of a running process, read from outside: processor time, memory, and counts from its /metrics."""

from __future__ import annotations

import http.client
import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_HTTP_SECONDS = 5.0


class Cpu(NamedTuple):
    """Processor seconds that a process has used, itself and the system for it."""

    user: float
    system: float

    @classmethod
    def of(cls, pid: int) -> Cpu:
        """As the system has it now, in steps of its clock tick (10 ms). Raises OSError if the process is gone."""
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return cls(int(fields[11]) / _TICKS, int(fields[12]) / _TICKS)

    def since(self, before: Cpu) -> Cpu:
        """What was used since *before*."""
        return Cpu(self.user - before.user, self.system - before.system)

    @property
    def total(self) -> float:
        """Both together."""
        return self.user + self.system


class Batches(NamedTuple):
    """How many batches there were, and how much was in them."""

    batches: float
    items: float

    def since(self, before: Batches) -> Batches:
        """What came since *before*."""
        return Batches(self.batches - before.batches, self.items - before.items)

    @property
    def mean(self) -> float | None:
        """Items in a batch; None without batches."""
        return self.items / self.batches if self.batches else None


def resident_kib(pid: int) -> int:
    """Resident memory of a process in KiB. Raises OSError if it is gone."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1])
    raise OSError(f"no Rss of process {pid}")


def read_metrics(address: str) -> str:
    """The /metrics page of the process whose HTTP port is at *address*. Raises OSError."""
    connection = http.client.HTTPConnection(address, timeout=_HTTP_SECONDS)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def batches(page: str, name: str) -> Batches:
    """Count and sum of the histogram *name* on a /metrics page, over all its labels; zeros if it is not there."""
    found = {"count": 0.0, "sum": 0.0}
    for line in page.splitlines():
        if line.startswith(f"{name}_"):
            series, _, value = line.rpartition(" ")
            part = series.partition("{")[0].removeprefix(f"{name}_")
            if part in found:
                found[part] += float(value)
    return Batches(found["count"], found["sum"])


def filesystem(folder: Path) -> str:
    """The kind of file system that *folder* is on, e.g. "ext4"; empty if the system does not say.

    On "tmpfs" nothing is durable, and appends are faster than they can be.
    """
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    real = folder.resolve()
    fitting = [(len(point), kind) for point, kind in mounts if real.is_relative_to(point)]
    return max(fitting)[1] if fitting else ""
