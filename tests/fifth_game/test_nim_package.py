"""Nim's contract and texts as they lie in its folder: what a game's author can check without installing anything."""

from __future__ import annotations

import json
import re
import string

import pytest

from tests.architecture.rules import FORBIDDEN_IN_RULES, KIT_FOR_RULES, STANDARD
from tests.architecture.source import imports_of
from tests.contract.compiled import compiled, games
from tests.contract.rules import any_faults, comment_faults, enum_faults, file_faults, game_faults
from tests.fifth_game.building import NIM, ROOT

LANGUAGES = ("en", "it", "fi")
PACKAGE = NIM / "tortuga_nim"
TEXTS = {language: json.loads((PACKAGE / "texts" / f"{language}.json").read_text()) for language in LANGUAGES}

_MADE = {"__pycache__", ".generated", "dist", ".mypy_cache", ".ruff_cache"}
_RAISED = re.compile(r'(?:InvalidAction|IllegalAction|InvalidOptions)\("([A-Z_]+)"')


def test_its_contract_holds_the_rules_of_all_contracts() -> None:
    """Comments, names, the platform's fields, the four calls: the same rules that proto/ is held to."""
    contracts = compiled(NIM / "proto")
    assert "nim" in [game.game for game in games(contracts)]
    for rule in (comment_faults, enum_faults, file_faults, any_faults, game_faults):
        assert list(rule(contracts)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_the_same_things(language: str) -> None:
    """The same keys with the same parameters, none of them empty."""
    assert TEXTS[language].keys() == TEXTS["en"].keys()
    for key, text in TEXTS[language].items():
        assert text.strip(), key
        assert _parameters(text) == _parameters(TEXTS["en"][key]), key


def test_every_refusal_has_a_text() -> None:
    """Each code that the rules or the codec raise, and none besides."""
    raised = {code for path in PACKAGE.glob("*.py") for code in _RAISED.findall(path.read_text())}
    assert raised == {key.removeprefix("refusal.") for key in TEXTS["en"] if key.startswith("refusal.")}


def test_its_rules_know_neither_protobuf_nor_clock() -> None:
    """What rules.py imports, directly or not: the kit's rules and chance, else the standard library without I/O."""
    waiting, core = [PACKAGE / "rules.py"], set()
    while waiting:
        path = waiting.pop()
        if path in core or not path.exists():
            continue
        core.add(path)
        for found in imports_of(NIM, path):
            if found.reaches("tortuga_nim"):
                waiting += [PACKAGE / f"{part}.py" for part in found.name.split(".")[1:2]]
            elif not any(found.reaches(allowed) for allowed in KIT_FOR_RULES):
                top = found.name.partition(".")[0]
                plain = top in STANDARD and top not in FORBIDDEN_IN_RULES
                assert plain or found.name == "random.Random", found
    names = {path.stem for path in core}
    assert {"rules", "state", "view", "redeal", "dumping"} <= names
    assert not names & {"wire", "describing", "game"}


def test_the_guide_tells_of_every_file() -> None:
    """docs/adding-a-game.md names each file of the package, and what it quotes stands there."""
    guide = (ROOT / "docs/adding-a-game.md").read_text()
    files = [path for path in NIM.rglob("*") if path.is_file() and not _MADE & set(path.parts)]
    assert [path.name for path in files if path.name not in guide] == []
    sources = "\n".join(path.read_text() for path in files)
    quotes = re.findall(r"^( *)```(?:python|toml|proto)\n(.*?)^ *```$", guide, re.MULTILINE | re.DOTALL)
    assert quotes
    for indent, quote in quotes:
        assert re.sub(rf"^{indent}", "", quote, flags=re.MULTILINE) in sources, quote


def _parameters(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
