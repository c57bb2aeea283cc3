"""Medians, percentiles, metrics pages and marks: what all figures are made of."""

from __future__ import annotations

import os
import time
from pathlib import Path

from services.cli.bench.cores import Cores, placed
from services.cli.bench.figures import Spread, as_json, percentile, table
from services.cli.bench.marks import Batches, Cpu, batches, filesystem, resident_kib

PAGE = """\
# HELP tortuga_append_batch Entries in one group commit.
# TYPE tortuga_append_batch histogram
tortuga_append_batch_bucket{le="1.0"} 3.0
tortuga_append_batch_bucket{le="+Inf"} 10.0
tortuga_append_batch_count 10.0
tortuga_append_batch_sum 125.0
tortuga_link_batch_count{way="in"} 2.0
tortuga_link_batch_sum{way="in"} 20.0
tortuga_link_batch_count{way="out"} 2.0
tortuga_link_batch_sum{way="out"} 4.0
"""


def test_a_spread_is_median_and_quartiles() -> None:
    """Of one value all three are that value."""
    assert Spread.of([5, 1, 3, 2, 4]) == (2, 3, 4)
    assert Spread.of([7]) == (7, 7, 7)
    assert as_json({"ms": Spread(1.23456, 2.0, 3.0)}) == {"ms": 2.0, "quartiles": {"ms": [1.235, 3.0]}}
    assert (Spread(1, 2000, 3).text(), Spread(1, 2, 3000).quartiles(1)) == ("2,000", "1.0 - 3,000.0")


def test_a_percentile_is_one_of_the_values() -> None:
    """Also at the edges."""
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1.0)) == (51.0, 100.0, 100.0)
    assert percentile([3.0], 0.99) == 3.0


def test_a_table_stands_under_its_title() -> None:
    """Titles are as long as they need to be, whatever the table's width."""
    first, *lines = table("All that was measured", ("part", "µs"), [("parse", "1.9")]).splitlines()
    assert first == "All that was measured"
    assert any("parse" in line and "1.9" in line for line in lines)


def test_batches_are_read_from_a_metrics_page() -> None:
    """Counts and sums of a histogram, over all labels; what is not there is nothing."""
    assert batches(PAGE, "tortuga_append_batch") == (10, 125)
    assert batches(PAGE, "tortuga_link_batch").mean == 6
    assert batches(PAGE, "tortuga_append").mean is None
    assert Batches(10, 125).since(Batches(5, 25)).mean == 20


def test_marks_grow_with_what_a_process_does() -> None:
    """Processor time and memory of a process are read from outside."""
    before, since = Cpu.of(os.getpid()), time.process_time()
    while time.process_time() - since < 0.1:
        pass
    assert 0.05 < Cpu.of(os.getpid()).since(before).total < 1
    small = resident_kib(os.getpid())
    held = b"x" * (32 << 20)
    assert resident_kib(os.getpid()) - small > 16 << 10
    assert held


def test_a_block_runs_on_its_core_and_returns() -> None:
    """What the block starts inherits the core; afterwards all is as before."""
    before = os.sched_getaffinity(0)
    cores = Cores.of_machine()
    with placed(cores.client):
        assert os.sched_getaffinity(0) == {cores.client}
    with placed(None):
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before
    assert len(before) == 1 or cores.server != cores.client


def test_the_file_system_is_named(tmp_path: Path) -> None:
    """The kind of the deepest mount: /proc is one of its own."""
    assert filesystem(Path("/proc/self")) == "proc"
    assert filesystem(tmp_path)
