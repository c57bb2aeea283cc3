"""Makefile, `.ci/venv` and `.ci/run`: what a newcomer and a machine with nothing of ours run first."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns(".git", ".venv", ".generated", ".tortuga", ".*_cache", ".hypothesis", "__pycache__")


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def stub(folder: Path, name: str, script: str) -> None:
    """Put a command *name* into *folder*."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_python_that_will_not_do_is_named(tmp_path: Path) -> None:
    """PYTHON=… that is too old or none at all: one clear line, and no environment is touched."""
    stub(tmp_path, "old-python", 'test "$1" = -c && exit 1')
    asked = run(".ci/venv", "tools", tmp_path / "old-python")
    assert asked.returncode == 1
    assert asked.stderr == f"setup: PYTHON={tmp_path}/old-python is no Python >= 3.11\n"


def test_without_any_python_it_says_what_to_do(tmp_path: Path) -> None:
    """No interpreter in sight: the line names the variable to set."""
    stub(tmp_path, "dirname", '/usr/bin/dirname "$@"')
    asked = run("/bin/bash", ".ci/venv", "tools", PATH=str(tmp_path))
    assert asked.returncode == 1
    assert asked.stderr == "setup: no Python >= 3.11 found. Name one: make setup PYTHON=/path/to/python3\n"


def test_every_target_is_explained() -> None:
    """`make` alone lists the targets of the brief, each with a line."""
    listed = run("make", "help")
    targets = {line.split()[1] for line in listed.stdout.splitlines()}
    assert {"setup", "demo", "up", "test", "check", "bench", "proto", "playthroughs", "clean"} <= targets


@pytest.mark.parametrize(("broken", "status"), [("none", 0), ("check", 1)])
def test_ci_runs_every_suite_and_tells_what_failed(tmp_path: Path, broken: str, status: int) -> None:
    """One failing suite does not hide the others: all are run, timed and listed, and the status says it."""
    stub(tmp_path, "make", f'test "$2" != {broken}')
    ran = run(".ci/run", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert ran.returncode == status
    summary = dict(line.split(None, 1) for line in ran.stdout.partition("=== summary\n")[2].splitlines())
    assert list(summary) == ["setup", "check", "test", "slow", "demo", "bench", "total"]
    assert summary["test"].split() == ["passed", "0", "s"]
    assert ("FAILED" in summary["check"]) == ("FAILED" in summary["total"]) == bool(status)


def test_ci_ends_at_once_if_nothing_could_be_set_up(tmp_path: Path) -> None:
    """Without an environment the suites would only fail one after the other."""
    stub(tmp_path, "make", "exit 2")
    ran = run(".ci/run", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert ran.returncode == 1
    assert "check" not in ran.stdout.partition("=== summary\n")[2]


def test_ci_ends_a_suite_that_hangs(tmp_path: Path) -> None:
    """A suite has a limit; passing it is told apart from failing. Here the limits are cut to a second."""
    stub(tmp_path, "make", 'test "$2" != slow || exec sleep 60')
    stub(tmp_path, "timeout", 'shift 2; exec /usr/bin/timeout --kill-after=1 1 "$@"')
    ran = run(".ci/run", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert ran.returncode == 1
    assert "slow: TIMED OUT" in ran.stdout
    assert "demo: passed" in ran.stdout


def without(package: str) -> list[str]:
    """A command that runs another one in a mount namespace in which *package* is empty."""
    found = run(Path(sys.executable).resolve(), "-c", f"import {package}; print({package}.__path__[0])").stdout.strip()
    return ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {found} && exec "$@"', "sh"]


def can_unshare() -> bool:
    return shutil.which("unshare") is not None and run("unshare", "--mount", "true").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "bare", [False, pytest.param(True, marks=pytest.mark.skipif(not can_unshare(), reason="needs mount namespaces"))]
)
def test_setup_makes_everything_from_a_python_alone(tmp_path: Path, bare: bool) -> None:
    """A fresh clone, with a whole Python and with one that lacks ensurepip as Debian's does; then again, at once."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT, clone, ignore=MADE)
    python = str(Path(sys.executable).resolve())
    made = run(*(without("ensurepip") if bare else []), "make", "setup", f"PYTHON={python}", cwd=clone)
    assert made.returncode == 0, made.stderr
    assert (clone / ".venv/bin/pip").exists() is not bare
    assert run(clone / ".venv/bin/tortuga", "--version", cwd=clone).stdout.strip() == "0.1.0"
    assert (clone / ".generated/tortuga/play/v1/play_pb2.py").exists()
    started = time.monotonic()
    again = run("make", "setup", cwd=clone)
    assert (again.stdout, again.stderr) == ("setup: .venv is ready\n", "")
    assert time.monotonic() - started < 5
