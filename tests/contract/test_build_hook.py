"""The build hook: what an install generates, and that a failure leaves the old code alone."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.compiled import PROTO, ROOT


@pytest.fixture
def generate() -> Callable[[Path], Path]:
    """The hook's `generate`, loaded from its file as hatchling does."""
    spec = importlib.util.spec_from_file_location("hatch_build", PROTO / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Path], Path] = module.generate
    return found


def generated_files(folder: Path) -> set[str]:
    """Names of all generated files, without what running them left behind."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in {".py", ".pyi", ".typed"}}


def test_a_checkout_is_generated_from_its_contracts(tmp_path: Path, generate: Callable[[Path], Path]) -> None:
    """Code and stubs for every file, calls for services; the same files as in this checkout, nothing left over."""
    shutil.copytree(PROTO, tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__"))
    target = generate(tmp_path)
    assert generated_files(target) == generated_files(ROOT / ".generated")
    assert {path.name for path in tmp_path.iterdir()} == {"proto", ".generated"}


def test_generating_again_drops_what_is_gone(tmp_path: Path, generate: Callable[[Path], Path]) -> None:
    """A contract that was removed leaves no code behind."""
    shutil.copytree(PROTO, tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".generated/tortuga/gone").mkdir(parents=True)
    (tmp_path / ".generated/tortuga/gone/gone_pb2.py").touch()
    target = generate(tmp_path)
    assert not (target / "tortuga/gone").exists()
    assert (target / "tortuga/play/py.typed").exists()


def test_a_refused_contract_leaves_the_old_code(
    tmp_path: Path, generate: Callable[[Path], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """An error in a contract fails the build with protoc's words, and what was generated before still stands."""
    (tmp_path / "proto/tortuga/nim/v1").mkdir(parents=True)
    (tmp_path / "proto/tortuga/nim/v1/nim.proto").write_text('syntax = "proto3";\nmessage Nim { Missing x = 1; }\n')
    (tmp_path / ".generated").mkdir()
    (tmp_path / ".generated/kept.py").touch()
    with pytest.raises(RuntimeError):
        generate(tmp_path)
    assert '"Missing" is not defined' in capfd.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"proto", ".generated"}
    assert (tmp_path / ".generated/kept.py").exists()
