"""The tree holds the architecture, and every rule bites when it is broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.kit.game import installed_games
from tests.architecture import rules
from tests.architecture.source import ROOT, games_of, imports_of

Rule = Callable[[Path], Iterator[str]]

RULES: tuple[Rule, ...] = (
    rules.rules_are_pure,
    rules.games_keep_to_themselves,
    rules.nobody_imports_a_game,
    rules.only_the_kit_asks_for_entry_points,
    rules.the_kit_stands_alone,
    rules.the_gateway_takes_little,
    rules.the_client_needs_no_server,
    rules.bots_see_views_only,
    rules.no_game_is_named,
    rules.files_are_short,
    rules.modules_have_names,
    rules.the_top_is_agreed,
)


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_holds(rule: Rule) -> None:
    """This repository breaks none of the rules."""
    assert list(rule(ROOT)) == []


def test_the_installed_game_is_looked_at() -> None:
    """Games are found by entry point and folder, so that a rule about games cannot pass by finding none."""
    assert "corsari" in games_of(ROOT)
    assert list((ROOT / "services/corsari").glob("*.py"))


@pytest.mark.parametrize("game", installed_games())
def test_rules_load_alone(game: str) -> None:
    """A fresh interpreter that loads a game's rules has loaded neither protobuf nor gRPC nor asyncio with them."""
    script = f"""if True:
        import sys
        import services.{game}.rules
        print(*({{"google.protobuf", "grpc", "asyncio"}} & set(sys.modules)))
    """
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree that holds every rule: kit, gateway, client, bots, CLI and a game that nobody planned."""
    files = {
        "pyproject.toml": '[project.entry-points."tortuga.games"]\nnim = "services.nim:GAME"\n',
        "services/nim/rules.py": "import json\nfrom services.kit.rules import Seat\nfrom services.nim import heap\n",
        "services/nim/heap.py": "from random import Random\nfrom .deep.inner import X\nimport services.kit.chance\n",
        "services/nim/deep/inner.py": "from services.nim.rules import TAKE\n",
        "services/nim/wire.py": "from tortuga.nim.v1 import nim_pb2\nfrom services.kit.encoding import varint\n",
        "services/nim/__init__.py": "from services.kit.game import Game\n",
        "services/nim/__main__.py": "from services.kit.host import serve\n",
        "services/kit/rules.py": "",
        "services/kit/game.py": "from importlib.metadata import entry_points\nfrom services.kit.rules import Seat\n",
        "services/client/seat.py": "import grpc\nfrom tortuga.play.v1 import play_pb2\nimport services.kit.game\n",
        "services/bots/choose.py": "from services.kit.game import load_game\n",
        "services/cli/demo.py": "from services.kit.game import load_game\nfrom services.client.seat import Seat\n",
        "gateway/app.py": "from services.kit.shell.server import serve\nfrom gateway.links import Link\n",
        "gateway/links.py": "from services.kit.link_frames import frames\nfrom services.kit import clock\n",
        "tests/test_nim.py": "from services.nim.rules import TAKE\n",
        "proto/tortuga/nim/v1/nim.proto": 'syntax = "proto3";\n',
    }
    for name, text in files.items():
        write(tmp_path, name, text)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def write(root: Path, name: str, text: str | bytes) -> None:
    """Put a file into *root*."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize("rule", RULES)
def test_a_right_tree_passes(rule: Rule, tree: Path) -> None:
    """What the rules allow, they do not report."""
    assert list(rule(tree)) == []


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (rules.rules_are_pure, "services/nim/rules.py", "import grpc\n"),
        (rules.rules_are_pure, "services/nim/rules.py", "from tortuga.nim.v1 import nim_pb2\n"),
        (rules.rules_are_pure, "services/nim/rules.py", "from services.kit.errors import Refusal\n"),
        (rules.rules_are_pure, "services/nim/rules.py", "from services.kit import errors\n"),
        (rules.rules_are_pure, "services/nim/rules.py", "import time\n"),
        (rules.rules_are_pure, "services/nim/rules.py", "from random import choice\n"),
        (rules.rules_are_pure, "services/nim/heap.py", "def f():\n    import asyncio\n"),
        (rules.rules_are_pure, "services/nim/deep/inner.py", "import numpy\n"),
        (rules.rules_are_pure, "services/nim/deep/__init__.py", "import grpc\n"),
        (rules.rules_are_pure, "services/ciurme/rules.py", "from services.ciurme import votes\nimport numpy\n"),
        (rules.rules_are_pure, "services/ciurme/votes.py", "x = 1\n"),
        (rules.games_keep_to_themselves, "services/nim/wire.py", "from services.corsari.cards import NAMES\n"),
        (rules.games_keep_to_themselves, "services/nim/wire.py", "from gateway.links import Link\n"),
        (rules.games_keep_to_themselves, "services/nim/wire.py", "from services.kit.match import Match\n"),
        (rules.games_keep_to_themselves, "services/nim/__main__.py", "from services.cli.serve import serve\n"),
        (rules.nobody_imports_a_game, "services/cli/demo.py", "from services.nim import GAME\n"),
        (
            rules.nobody_imports_a_game,
            "services/cli/demo.py",
            "import importlib as i\ni.import_module('services.nim')\n",
        ),
        (rules.nobody_imports_a_game, "services/cli/demo.py", "import_module(f'services.{game}')\n"),
        (rules.nobody_imports_a_game, "gateway/app.py", "from tortuga.nim.v1 import nim_pb2\n"),
        (rules.nobody_imports_a_game, "services/shanghai/wire.py", "import services.nim.wire\n"),
        (
            rules.only_the_kit_asks_for_entry_points,
            "services/cli/demo.py",
            "from importlib.metadata import entry_points\n",
        ),
        (rules.only_the_kit_asks_for_entry_points, "gateway/app.py", "from services.kit.game import load_game\n"),
        (rules.only_the_kit_asks_for_entry_points, "services/kit/host.py", "from services.kit.game import load_game\n"),
        (rules.the_kit_stands_alone, "services/kit/host.py", "from services.nim.rules import TAKE\n"),
        (rules.the_kit_stands_alone, "services/kit/host.py", "from gateway.links import Link\n"),
        (rules.the_kit_stands_alone, "services/kit/store/port.py", "from ...client import seat\n"),
        (rules.the_gateway_takes_little, "gateway/app.py", "from services.kit.match import Match\n"),
        (rules.the_gateway_takes_little, "gateway/app.py", "from services.kit import rules\n"),
        (rules.the_gateway_takes_little, "gateway/app.py", "from services.kit.attachment import Attachment\n"),
        (rules.the_gateway_takes_little, "gateway/edge/web.py", "from services.client.seat import Seat\n"),
        (rules.the_client_needs_no_server, "services/client/seat.py", "from services.kit.errors import DOMAIN\n"),
        (rules.the_client_needs_no_server, "services/client/seat.py", "if 1:\n    from gateway import app\n"),
        (rules.bots_see_views_only, "services/bots/choose.py", "from services.kit.store.port import MatchStore\n"),
        (rules.no_game_is_named, "services/kit/rules.py", "# as in Nim\n"),
        (rules.no_game_is_named, "gateway/texts/en.json", '{"game": "CORSARI"}'),
        (rules.no_game_is_named, "gateway/shanghaien.py", ""),
        (rules.files_are_short, "services/kit/long.py", "x = 1\n" * 401),
        (rules.files_are_short, "proto/tortuga/nim/v1/nim.proto", "// A line.\n" * 401),
        (rules.modules_have_names, "services/kit/utils.py", ""),
        (rules.modules_have_names, "gateway/common/things.py", ""),
        (rules.the_top_is_agreed, "notes.txt", ""),
        (rules.the_top_is_agreed, "scripts/run.sh", ""),
    ],
)
def test_a_broken_rule_is_reported(rule: Rule, name: str, text: str, tree: Path) -> None:
    """A planted violation is found, under the path of the file that it is in."""
    write(tree, name, text)
    found = list(rule(tree))
    assert found
    assert all(fault.startswith((name, name.partition("/")[0])) for fault in found)


def test_pictures_are_no_text(tree: Path) -> None:
    """A binary file in the gateway's folder is passed over."""
    write(tree, "gateway/web/icon.png", b"\x89PNG\xff\xfe nim")
    assert list(rules.no_game_is_named(tree)) == []


def test_every_way_to_import_is_seen(tree: Path) -> None:
    """Plain, from, relative, nested, for type checking and by name: all give the full name."""
    source = """
        import a.b as c
        from a import b
        from . import near
        from .near import thing
        from ..up import far
        def f():
            import inner
            importlib.import_module("by.name")
            __import__("old.way")
            import_module(f"services.{game}")
        if TYPE_CHECKING:
            from only.types import T
    """
    path = tree / "services/kit/store/all.py"
    write(tree, "services/kit/store/all.py", "\n".join(line[8:] for line in source.splitlines()))
    assert [found.name for found in imports_of(tree, path)] != []
    assert {found.name for found in imports_of(tree, path)} == {
        "a.b",
        "services.kit.store.near",
        "services.kit.store.near.thing",
        "services.kit.up.far",
        "inner",
        "by.name",
        "old.way",
        "services",
        "only.types.T",
    }
