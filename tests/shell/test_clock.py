"""The clocks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from services.kit import clock as clock_module
from services.kit.clock import OwnClock, StoreClock


def machine_ms() -> int:
    return time.time_ns() // 1_000_000


def reads_about(read: Callable[[], int], ahead_ms: int) -> bool:
    """Whether *read* is *ahead_ms* ahead of the machine, with a second's grace for a busy machine."""
    return abs(read() - machine_ms() - ahead_ms) < 1000


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the file at every call, so that no test waits."""
    monkeypatch.setattr(clock_module, "_LOOK_AGAIN_NS", 0)


def test_without_a_file_it_is_the_machines_time() -> None:
    """No file, no offset."""
    assert reads_about(StoreClock().now_ms, 0)


def test_the_offset_follows_the_file(tmp_path: Path) -> None:
    """A file that appears, changes, and goes forward and back is followed; it holds seconds."""
    file = tmp_path / "clock"
    clock = StoreClock(file)
    assert reads_about(clock.now_ms, 0)
    for text, ahead_ms in (("3600\n", 3_600_000), ("7200.5", 7_200_500), ("-86400", -86_400_000)):
        file.write_text(text)
        assert reads_about(clock.now_ms, ahead_ms)


@pytest.mark.parametrize("text", ["", "soon", "1e999", "nan", "\xff"])
def test_a_file_that_does_not_read_leaves_the_offset_in_force(tmp_path: Path, text: str) -> None:
    """A half-written or broken file never moves the clock."""
    file = tmp_path / "clock"
    file.write_text("60")
    clock = StoreClock(file)
    assert reads_about(clock.now_ms, 60_000)
    file.write_text(text, encoding="latin-1")
    assert reads_about(clock.now_ms, 60_000)
    file.unlink()
    assert reads_about(clock.now_ms, 60_000)


def test_the_file_is_not_looked_at_on_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 50 ms the last offset is believed: the hot path makes no system call."""
    monkeypatch.setattr(clock_module, "_LOOK_AGAIN_NS", 60_000_000_000)
    looks: list[object] = []
    stat = os.stat

    def counted(path: Path) -> os.stat_result:
        looks.append(path)
        return stat(path)

    monkeypatch.setattr(os, "stat", counted)
    file = tmp_path / "clock"
    file.write_text("60")
    clock = StoreClock(file)
    for _ in range(100):
        clock.now_ms()
    assert len(looks) == 1


def test_the_own_clock_is_false_by_its_skew() -> None:
    """The skew moves the own clock and is in seconds."""
    assert reads_about(OwnClock(-20).own_ms, -20_000)
    assert reads_about(OwnClock().own_ms, 0)
