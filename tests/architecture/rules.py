"""The rules of the architecture, each a function from a source tree to what breaks it (path, line, what)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture.source import Import, games_of, imports_below, imports_of, python_files

STANDARD = sys.stdlib_module_names

FORBIDDEN_IN_RULES = frozenset(
    {"asyncio", "datetime", "os", "random", "secrets", "socket", "subprocess", "threading", "time"}
)
"""Parts of the standard library that pure rules have no use for: I/O, clocks, concurrency, chance of their own.

`random` may be named for its type only (`from random import Random`: the luck that `sample` and `redeal` are given).
"""

KIT_FOR_RULES = ("services.kit.rules", "services.kit.chance")
KIT_FOR_EDGE = (*KIT_FOR_RULES, "services.kit.bot", "services.kit.game", "services.kit.encoding", "services.kit.errors")
KIT_FOR_GATEWAY = (
    "services.kit.shell",
    "services.kit.link",
    "services.kit.front",
    *(f"services.kit.attachment.{name}" for name in ("Outlet", "Delivery", "NO_ANSWER", "APPLIED", "REFUSED")),
    "services.kit.stream.REHOME",
    "services.kit.tokens",
    "services.kit.errors",
    "services.kit.clock",
)
"""The process shell, link framing (with what it delivers), tokens, errors and clock: all that the gateway takes."""

LONGEST = 400
"""Lines of a file; 80 to 300 is the habit."""

VAGUE = frozenset({"util", "utils", "helper", "helpers", "common", "misc", "shared"})
"""Names of modules that say nothing about what is inside."""

TOP = frozenset(
    {
        ".ci",
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "deploy",
        "docs",
        "gateway",
        "proto",
        "pyproject.toml",
        "requirements.lock",
        "services",
        "tests",
    }
)
"""All that may stand at the top of the repository."""


def rules_are_pure(root: Path) -> Iterator[str]:
    """A game's rules import the standard library without I/O and clocks, `kit.rules`, `kit.chance` and themselves.

    The rules are `rules.py` and all of the game's own that it imports, directly or not. What is left (codec, bot,
    process) may know protobuf.
    """
    for game in sorted(games_of(root)):
        core = rules_core(root, game)
        if not core and (root / "services" / game).exists():
            yield f"services/{game}: has no rules.py"
        for found in (each for path in core for each in imports_of(root, path)):
            top = found.name.partition(".")[0]
            if found.reaches(f"services.{game}") or _within(found, KIT_FOR_RULES):
                continue
            if found.name != "random.Random" and (top not in STANDARD or top in FORBIDDEN_IN_RULES):
                yield _says(found, "rules import the standard library, kit.rules and kit.chance only")


def rules_core(root: Path, game: str) -> list[Path]:
    """The modules that a game's rules are made of; none if it has no `rules.py`."""
    home = root / "services" / game
    core: set[Path] = set()
    waiting = [home / "rules.py"]
    while waiting:
        path = waiting.pop()
        if path in core or not path.is_file() or path == home / "__init__.py":
            continue  # the package itself only names what it offers, lazily
        core.add(path)
        for found in imports_of(root, path):
            if found.reaches(f"services.{game}"):
                parts = found.name.split(".")
                for depth in range(3, len(parts) + 1):  # services.<game>.<module>, and what is deeper
                    place = root.joinpath(*parts[:depth])
                    waiting += [place.with_suffix(".py"), place / "__init__.py"]
    return sorted(core)


def games_keep_to_themselves(root: Path) -> Iterator[str]:
    """A game imports itself, contracts and a few modules of the kit: no other game, not the gateway, client or CLI.

    Its `__main__` may use the whole kit: it runs the process.
    """
    for game in sorted(games_of(root)):
        for found in imports_below(root, f"services/{game}"):
            runs = found.file.name == "__main__.py" and found.reaches("services.kit")
            if _ours(found) and not (found.reaches(f"services.{game}") or runs or _within(found, KIT_FOR_EDGE)):
                yield _says(found, "a game reaches beyond itself and the kit's contracts")


def nobody_imports_a_game(root: Path) -> Iterator[str]:
    """Games are reached through their entry points alone: no module outside a game imports it or its contract."""
    games = games_of(root)
    for found in imports_below(root, "services", "gateway"):
        home = found.file.parts[1] if found.file.parts[0] == "services" else ""
        for game in games - {home}:
            if found.reaches(f"services.{game}") or found.reaches(f"tortuga.{game}"):
                yield _says(found, "a game is imported from outside")
        if found.name == "services":
            yield _says(found, "a package below services/ is imported by a name made at run time")


def only_the_kit_asks_for_entry_points(root: Path) -> Iterator[str]:
    """`services/kit/game.py` finds the games; CLI, bots and client ask it, the gateway and the kit do not."""
    for found in imports_below(root, "services", "gateway"):
        part = found.file.parts[1] if found.file.parts[0] == "services" else found.file.parts[0]
        if found.name.endswith(".entry_points") and found.file != Path("services/kit/game.py"):
            yield _says(found, "only services/kit/game.py asks for entry points")
        loads = found.name in {"services.kit.game.load_game", "services.kit.game.installed_games"}
        if loads and part not in {"cli", "bots", "client"}:
            yield _says(found, "only CLI, bots and client look for games")


def the_kit_stands_alone(root: Path) -> Iterator[str]:
    """The kit imports itself and contracts: no game, not the gateway, bots, client or CLI."""
    for found in imports_below(root, "services/kit"):
        if _ours(found) and not found.reaches("services.kit"):
            yield _says(found, "the kit imports what stands on it")


def the_gateway_takes_little(root: Path) -> Iterator[str]:
    """The gateway takes from the kit only the process shell, link framing, tokens, errors and clock."""
    for found in imports_below(root, "gateway"):
        framing = found.name.startswith("services.kit.link_")
        if _ours(found) and not (found.reaches("gateway") or framing or _within(found, KIT_FOR_GATEWAY)):
            yield _says(found, "the gateway takes more than shell, link framing, tokens, errors and clock")


def the_client_needs_no_server(root: Path) -> Iterator[str]:
    """The client library imports itself, contracts, and of the kit `game` alone, through which it finds codecs."""
    for found in imports_below(root, "services/client"):
        if _ours(found) and not found.reaches("services.client") and not _within(found, ("services.kit.game",)):
            yield _says(found, "the client imports server code")


def bots_see_views_only(root: Path) -> Iterator[str]:
    """Bots import themselves and the kit's contracts and shell: nothing that holds a match."""
    for found in imports_below(root, "services/bots"):
        allowed = (*KIT_FOR_EDGE, "services.bots", "services.kit.shell", "services.kit.tokens", "services.kit.clock")
        if _ours(found) and not _within(found, allowed):
            yield _says(found, "bots reach for more than views")


def no_game_is_named(root: Path) -> Iterator[str]:
    """No file in the kit or the gateway has a game's name in it, in whatever case, in text, comments or file name."""
    games = sorted(games_of(root))
    for folder in ("services/kit", "gateway"):
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            relative = path.relative_to(root)
            try:
                lines = path.read_text().splitlines()
            except UnicodeDecodeError:
                continue  # pictures and fonts name nobody
            for number, line in enumerate((str(relative), *lines)):
                if named := [game for game in games if game in line.lower()]:
                    yield f"{relative}:{number}: names {', '.join(named)}"


def files_are_short(root: Path) -> Iterator[str]:
    """No module and no contract is longer than LONGEST lines."""
    contracts = sorted((root / "proto").rglob("*.proto"))
    for path in [*python_files(root, "services", "gateway", "tests", "proto"), *contracts]:
        if (lines := len(path.read_text().splitlines())) > LONGEST:
            yield f"{path.relative_to(root)}: {lines} lines, more than {LONGEST}"


def modules_have_names(root: Path) -> Iterator[str]:
    """No module or folder is called by a word that says nothing."""
    for path in python_files(root, "services", "gateway", "tests"):
        relative = path.relative_to(root)
        if VAGUE & {*relative.parent.parts, relative.stem}:
            yield f"{relative}: says nothing about what is inside"


def the_top_is_agreed(root: Path) -> Iterator[str]:
    """At the top of the repository stands what the layout of design §8 names, and nothing else."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in sorted({line.partition("/")[0] for line in listed.splitlines()} - TOP):
        yield f"{name}: not in the layout"


def _ours(found: Import) -> bool:
    """Whether *found* is code of this repository (contracts are everyone's)."""
    return found.reaches("services") or found.reaches("gateway") or found.reaches("tests")


def _within(found: Import, packages: Iterable[str]) -> bool:
    return any(found.reaches(package) for package in packages)


def _says(found: Import, what: str) -> str:
    return f"{found.file}:{found.line}: imports {found.name}: {what}"
