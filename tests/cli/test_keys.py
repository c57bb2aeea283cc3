"""`tortuga keys`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from services.cli.main import app
from services.kit.keys import open_keys


def test_rotate_makes_a_key_beside_the_old_one(tmp_path: Path) -> None:
    """The new one is the last; `list` shows both, and no secret."""
    old = open_keys(tmp_path / "keys")[0]
    made = CliRunner().invoke(app, ["keys", "rotate", "--data", str(tmp_path), "--json"])
    assert made.exit_code == 0
    listed = CliRunner().invoke(app, ["keys", "list", "--data", str(tmp_path), "--json"])
    assert [key["kid"] for key in json.loads(listed.stdout)["keys"]] == [old.kid, json.loads(made.stdout)["kid"]]


def test_a_folder_that_does_not_read_is_said(tmp_path: Path) -> None:
    """Exit status 1, with the file's name."""
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "00000000000000-bad.pem").write_text("no key")
    done = CliRunner().invoke(app, ["keys", "rotate", "--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "bad.pem" in done.stderr
