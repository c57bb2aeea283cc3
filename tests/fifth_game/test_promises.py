"""What the platform's own suites say of the game, run where its author would: on the installed wheels."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.fifth_game.conftest import Sources
from tests.fifth_game.environments import Environment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suites(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suites that any game is held to, in a folder with no code of the platform beside them."""
    place = tmp_path_factory.mktemp("suites")
    for folder in ("tests/contract", "tests/conformance", "proto"):
        shutil.copytree(sources.platform / folder, place / folder)
    for file in ("tests/__init__.py", "pyproject.toml"):
        shutil.copyfile(sources.platform / file, place / file)
    return place


@pytest.mark.parametrize(("variant", "seats"), [("standard", 2), ("misere", 3), ("subtraction", 4)])
def test_random_play_breaks_no_promise(variant: str, seats: int, author: Environment) -> None:
    """`tortuga simulate --check`: texts, dumps, views, refusals, redeals, invariants, after every action."""
    command = ("tortuga", "simulate", "nim", "--check", "--json", "--matches", "40", "--seats", str(seats))
    found = json.loads(author.run(*command, "--variant", variant, timeout=60).stdout)
    assert found["violations"] == 0
    assert found["outcomes"] == {"finished": 40}
    assert all(found["checks"].values())


def test_its_contract_and_codec_hold(suites: Path, author: Environment) -> None:
    """`tests/contract`, for every installed game: contract, options, variants, and the bytes of random matches."""
    said = _pytest(author, suites, "tests/contract/test_installed_games.py", "-k", "nim")
    assert re.fullmatch(r"6 passed, \d+ deselected in .*", said), said


def test_it_passes_the_conformance_suite(suites: Path, author: Environment) -> None:
    """`tests/conformance`, every check of it: a game passes by being registered."""
    said = _pytest(author, suites, "tests/conformance/test_games.py")
    assert re.fullmatch(r"1\d passed, 1\d deselected in .*", said), said


def _pytest(author: Environment, suites: Path, *arguments: str) -> str:
    """Run a suite on the installed wheels for this game, and return its last line."""
    command = ("python", "-P", "-m", "pytest", *arguments)
    done = author.run(*command, cwd=suites, timeout=100, TORTUGA_CONFORMANCE_GAMES="nim")
    return done.stdout.splitlines()[-1]
