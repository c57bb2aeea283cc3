"""The source tree as the architecture sees it: modules, what they import, and which games there are."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PLANNED_GAMES = frozenset({"corsari", "shanghaien", "shanghai", "ciurme"})
"""The games of design §1, whether they are here yet or not."""

PARTS = frozenset({"kit", "bots", "client", "cli"})
"""Packages below services/ that are no game."""


class Import(NamedTuple):
    """One import: the file, the line, and the full name of what is imported (`a.b` for `from a import b`)."""

    file: Path
    line: int
    name: str

    def reaches(self, package: str) -> bool:
        """Whether it is *package* or something in it."""
        return self.name == package or self.name.startswith(f"{package}.")


def games_of(root: Path) -> frozenset[str]:
    """Ids of the games in this tree, by entry point and by folder, and of those planned."""
    found = set(PLANNED_GAMES)
    project = root / "pyproject.toml"
    if project.exists():
        table = tomllib.loads(project.read_text())
        found |= table.get("project", {}).get("entry-points", {}).get("tortuga.games", {}).keys()
    folders = {path.name for path in (root / "services").iterdir() if any(path.rglob("*.py"))}
    return frozenset(found | folders - PARTS)


def python_files(root: Path, *folders: str) -> list[Path]:
    """All modules below *folders* of *root*, in order."""
    return sorted(path for folder in folders for path in (root / folder).rglob("*.py"))


def imports_below(root: Path, *folders: str) -> Iterator[Import]:
    """Every import of every module below *folders*."""
    for path in python_files(root, *folders):
        yield from imports_of(root, path)


def imports_of(root: Path, path: Path) -> Iterator[Import]:
    """What the module *path* imports, wherever in it: at the top, in functions, for type checking only, by name."""
    relative = path.relative_to(root)
    package = relative.parent.parts
    for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(relative, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(relative, node.lineno, f"{origin}.{alias.name}")
        elif isinstance(node, ast.Call) and _calls_an_importer(node):
            for argument in node.args[:1]:
                for name in _literals(argument):
                    yield Import(relative, node.lineno, name)


def _calls_an_importer(node: ast.Call) -> bool:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in {"import_module", "__import__", "find_spec", "run_module"}


def _literals(node: ast.expr) -> Iterator[str]:
    """The module names that *node* may begin with: of an f-string, what stands before its first hole."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else node
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"[A-Za-z_]", node.value):
        yield node.value.rstrip(".")
