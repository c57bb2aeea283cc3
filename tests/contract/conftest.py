"""Fixtures: the compiled contracts, and planted ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.contract.compiled import compiled, our_contracts

NIM = Path(__file__).with_name("nim.proto.txt").read_text()
"""A small game's whole contract, right in everything; tests plant one fault at a time in it."""

Planting = Callable[..., FileDescriptorSet]


@pytest.fixture(scope="session")
def contracts() -> FileDescriptorSet:
    """All contracts of this repository, with comments."""
    return our_contracts()


@pytest.fixture
def plant(tmp_path: Path) -> Planting:
    """Compiles Nim's contract with each (old, new) pair of texts replaced."""

    def planted(*changes: tuple[str, str]) -> FileDescriptorSet:
        text = NIM
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        place = tmp_path / "tortuga/nim/v1"
        place.mkdir(parents=True, exist_ok=True)
        (place / "nim_service.proto").write_text(text)
        return compiled(tmp_path)

    return planted
