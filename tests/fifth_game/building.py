"""Distributions, built as a release builds them: from copies of the sources, in a clean place."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.fifth_game.environments import pip

ROOT = Path(__file__).resolve().parents[2]

NIM = Path(__file__).with_name("nim")
"""The package from outside."""


def clone(target: Path) -> Path:
    """What a fresh clone of this repository holds, with changes not committed yet. Builds never touch the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # one that was deleted and not committed is still listed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
    return target


def copy_of_nim(target: Path) -> Path:
    """The game's sources, away from this repository."""
    shutil.copytree(NIM, target, ignore=shutil.ignore_patterns("__pycache__", ".generated", "dist"))
    return target


def sdist(source: Path, target: Path) -> Path:
    """The source distribution of the project in *source*."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(target)],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=60,
    )
    [made] = target.glob("*.tar.gz")
    return made


def unpacked(archive: Path, target: Path) -> Path:
    """The project that a source distribution holds."""
    with tarfile.open(archive) as opened:
        opened.extractall(target, filter="data")
    [project] = target.iterdir()
    return project


def wheel(source: Path, target: Path, python: Path = Path(sys.executable)) -> Path:
    """The wheel of the project in *source*, built with what the environment of *python* has."""
    pip(python, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(target), str(source))
    [made] = target.glob("*.whl")
    return made
