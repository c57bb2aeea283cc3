"""What is in the wheels, that a game's author can build and check with them, and that neither needs this repository."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from tests.fifth_game.building import ROOT, copy_of_nim, sdist, unpacked, wheel
from tests.fifth_game.conftest import Sources
from tests.fifth_game.environments import Environment, pip

pytestmark = pytest.mark.slow

NAMES_IT = re.compile(r"(?<![a-z])nim(?![a-z])", re.IGNORECASE)


def contents(wheel_file: Path) -> dict[str, bytes]:
    """Every file of a wheel, by name."""
    with zipfile.ZipFile(wheel_file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_code_as_it_stands_here(platform_wheel: Path, sources: Sources) -> None:
    """Every module, so the gateway that is played on is this one; every contract beside the code made of it."""
    held = contents(platform_wheel)
    for folder in ("services", "gateway"):
        modules = list((sources.platform / folder).rglob("*.py"))
        assert modules
        for path in modules:
            assert held[str(path.relative_to(sources.platform))] == path.read_bytes()
    contracts = list((sources.platform / "proto").rglob("*.proto"))
    assert contracts
    for path in contracts:
        name = str(path.relative_to(sources.platform / "proto"))
        assert held[name] == path.read_bytes()
        assert name.replace(".proto", "_pb2.py") in held
        assert name.replace(".proto", "_pb2.pyi") in held
        assert (name.replace(".proto", "_pb2_grpc.py") in held) == name.endswith("_service.proto")


def test_the_platform_does_not_name_the_game(platform_wheel: Path) -> None:
    """In no file of the kit and the gateway that were installed is there a word of it, in whatever case."""
    looked_at = 0
    for name, data in contents(platform_wheel).items():
        if name.startswith(("services/kit/", "gateway/")):
            looked_at += 1
            assert not NAMES_IT.search(name), name
            assert not NAMES_IT.search(data.decode()), name
    assert looked_at > 50


def test_a_wheel_made_of_the_sdist_is_the_same(platform_wheel: Path, sources: Sources, tmp_path: Path) -> None:
    """Whoever builds from the source distribution gets the same files, byte for byte."""
    project = unpacked(sdist(sources.platform, tmp_path / "sdist"), tmp_path / "unpacked")
    assert contents(wheel(project, tmp_path / "wheel")) == contents(platform_wheel)


def test_the_game_s_wheel_brings_its_own_and_nothing_of_the_platform(nim_wheel: Path, platform_wheel: Path) -> None:
    """Its package, its contract, its metadata: never `tortuga/play`, no file of the other wheel, no `__init__`."""
    brought = contents(nim_wheel)
    parts = {"/".join(name.split("/")[:2]) for name in brought if name.startswith("tortuga/")}
    assert parts == {"tortuga/nim"}
    assert {name.split("/")[0] for name in brought} == {"tortuga", "tortuga_nim", "tortuga_nim-1.0.0.dist-info"}
    assert not brought.keys() & contents(platform_wheel).keys()
    assert "tortuga/nim/py.typed" in brought
    assert "tortuga/__init__.py" not in brought
    assert {f"tortuga_nim/texts/{language}.json" for language in ("en", "it", "fi")} <= brought.keys()


def test_the_game_s_wheel_can_be_made_of_its_sdist(
    workshop: Environment, nim_wheel: Path, sources: Sources, tmp_path: Path
) -> None:
    """As the platform's own."""
    workshop.run("python", "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path), cwd=sources.nim, timeout=60)
    [archive] = tmp_path.glob("*.tar.gz")
    project = unpacked(archive, tmp_path / "unpacked")
    assert contents(wheel(project, tmp_path / "wheel", workshop.python)) == contents(nim_wheel)


def test_the_game_can_be_installed_to_be_worked_on(platform_wheel: Path, sources: Sources, tmp_path: Path) -> None:
    """`pip install -e`: the platform from its wheel, the game from its folder, both in one namespace."""
    place = Environment.made(tmp_path / "venv", platform_wheel, extra="dev")
    folder = copy_of_nim(tmp_path / "nim")
    pip(place.python, "install", "--no-index", "--no-deps", "--no-build-isolation", "-e", str(folder))
    program = "import tortuga_nim.game, tortuga.nim.v1.nim_pb2 as pb; print(tortuga_nim.game.__file__, pb.__file__)"
    for found in place.run("python", "-P", "-c", program, timeout=60).stdout.split():
        assert Path(found).is_relative_to(folder)
    place.run("tortuga", "simulate", "nim", "--check", "--matches", "5", timeout=60)


def test_the_game_is_checked_by_its_types(author: Environment, sources: Sources) -> None:
    """`mypy --strict` over the game, against the types that the platform's wheel brings for kit and contracts."""
    said = author.run("mypy", cwd=sources.nim, timeout=120).stdout
    assert "no issues found" in said


def test_the_game_s_contract_is_linted_with_the_platform_s(
    author: Environment, sources: Sources, tmp_path: Path
) -> None:
    """`buf lint` by the platform's own rules, over the contracts as they are installed."""
    for folder in ("play", "nim"):
        for contract in (author.packages / "tortuga" / folder).rglob("*.proto"):
            target = tmp_path / contract.relative_to(author.packages)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contract.read_bytes())
    (tmp_path / "buf.yaml").write_bytes((sources.platform / "proto/buf.yaml").read_bytes())
    assert (tmp_path / "tortuga/nim/v1/nim_service.proto").exists()
    author.run("buf", "lint", str(tmp_path), timeout=60)


def test_the_environments_see_nothing_of_the_checkout(author: Environment, environment: Environment) -> None:
    """What is imported in them comes from them; nothing on their path leads to the repository."""
    program = (
        "import sys, services, gateway, tortuga.play.v1.play_pb2 as play, tortuga_nim; "
        "print(*sys.path, *(module.__file__ for module in (services, gateway, play, tortuga_nim)), sep='\\n')"
    )
    for place in (author, environment):
        said = place.run("python", "-P", "-c", program, timeout=60).stdout.splitlines()
        assert not [line for line in said if line.startswith(str(ROOT))]
        assert all(line.startswith(str(place.packages)) for line in said[-4:])
