"""The frozen contract: what was released keeps its numbers, names and types."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from tests.contract.release import RELEASED, ROOT, buf

PLANTS = {
    "a field renumbered": ("string action_id = 2;", "string action_id = 15;"),
    "a field retyped": ("uint64 decision = 3;", "int32 decision = 3;"),
    "a field removed": ("  repeated uint32 away = 4;\n", ""),
    "an enum value renumbered": ("KIT_KIND_RESIGN = 2;", "KIT_KIND_RESIGN = 20;"),
}


def test_proto_keeps_what_was_released() -> None:
    """`buf breaking` finds nothing; `make check` runs the same."""
    found = buf("breaking", "proto", "--against", str(RELEASED))
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("plant", PLANTS)
def test_a_break_is_found(plant: str, tmp_path: Path) -> None:
    """Each way to break clients fails the check."""
    old, new = PLANTS[plant]
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    files = [path for path in (tmp_path / "proto").rglob("*.proto") if old in path.read_text(encoding="utf-8")]
    assert files, f"the plant {plant!r} fits nowhere any more"
    for path in files:
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    found = buf("breaking", str(tmp_path / "proto"), "--against", str(RELEASED))
    assert found.returncode != 0
    assert found.stdout + found.stderr


def test_changelog_names_the_released_contract() -> None:
    """It was frozen by `make release-contract`, which leaves a line."""
    fingerprint = hashlib.sha256(RELEASED.read_bytes()).hexdigest()[:16]
    assert fingerprint in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
