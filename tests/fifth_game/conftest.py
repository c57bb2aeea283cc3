"""Fixtures: both wheels, an environment to build and check games in, one to run them in, and the platform, up there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from services.cli.fleet import Fleet
from tests.fifth_game.building import clone, copy_of_nim, wheel
from tests.fifth_game.environments import ALONE, Environment

PLAYERS = Path(__file__).with_name("players.py")


class Sources(NamedTuple):
    """Copies of the sources, as their authors have them."""

    platform: Path
    nim: Path


class Platform(NamedTuple):
    """A gateway and Nim's pod, two processes of an environment in which both wheels are installed."""

    gateway: str
    pod: str
    data: Path


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """A clone of this repository, and the game's own."""
    place = tmp_path_factory.mktemp("sources")
    return Sources(clone(place / "tortuga"), copy_of_nim(place / "nim"))


@pytest.fixture(scope="session")
def platform_wheel(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel."""
    return wheel(sources.platform, tmp_path_factory.mktemp("platform"))


@pytest.fixture(scope="session")
def workshop(platform_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A game author's environment: the platform's wheel with its tools (`[dev]`), and nothing of this repository."""
    return Environment.made(tmp_path_factory.mktemp("workshop") / "venv", platform_wheel, extra="dev")


@pytest.fixture(scope="session")
def nim_wheel(workshop: Environment, sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The game's wheel, built against the contracts that the platform's wheel brought into the workshop."""
    return wheel(sources.nim, tmp_path_factory.mktemp("nim"), workshop.python)


@pytest.fixture(scope="session")
def author(workshop: Environment, nim_wheel: Path) -> Environment:
    """The workshop with the game installed in it."""
    workshop.install(nim_wheel)
    return workshop


@pytest.fixture(scope="session")
def environment(platform_wheel: Path, nim_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment with both wheels and what they say they depend on."""
    return Environment.made(tmp_path_factory.mktemp("fresh") / "venv", platform_wheel, nim_wheel)


@pytest.fixture(scope="session")
def platform(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """`tortuga serve gateway` and `tortuga serve nim`, real processes of the fresh environment."""
    serve = (str(environment.folder / "bin/tortuga"), "serve")
    fleet = Fleet(tmp_path_factory.mktemp("data"), ["nim"], command=serve, environment=ALONE)
    with asyncio.Runner() as runner:
        runner.run(fleet.start())
        try:
            yield Platform(fleet.gateway_address, fleet.members["nim"].address, fleet.data)
        finally:
            runner.run(fleet.stop())


@pytest.fixture(scope="session")
def played(environment: Environment, platform: Platform) -> dict[str, Any]:
    """What players saw who ran in the fresh environment (players.py)."""
    done = environment.run("python", "-P", str(PLAYERS), platform.gateway, platform.pod, timeout=110)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
