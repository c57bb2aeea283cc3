"""Generator and runtime agree: whoever installs this gets code that the installed protobuf accepts."""

from __future__ import annotations

import importlib
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import grpc
import pytest
from google.protobuf import __version__ as protobuf_version
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from tests.contract.compiled import PROTO, ROOT, ours

GENERATED = ROOT / ".generated"
PINNED = ("grpcio-tools", "hatchling", "mypy-protobuf")


def numbers(text: str) -> tuple[int, ...]:
    """A version as numbers that compare."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def locked(package: str) -> str:
    """The version of *package* in requirements.lock."""
    found = re.search(rf"^{re.escape(package)}==([^\s;\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert found, f"{package} is not in requirements.lock"
    return found[1]


@pytest.mark.parametrize("package", PINNED)
def test_build_requires_what_is_locked_and_installed(package: str) -> None:
    """The build's pin, the lock's and the installed version are one."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pins = dict(requirement.split("==") for requirement in build)
    assert pins.keys() == set(PINNED), "every requirement of the build is pinned"
    assert pins[package] == locked(package) == version(package)


def test_generated_messages_suit_the_runtime() -> None:
    """protobuf promises to run code of its own major version that is not newer, and of the one before."""
    modules = sorted(GENERATED.rglob("*_pb2.py"))
    assert len(modules) == len(list(PROTO.rglob("*.proto")))
    runtime = numbers(protobuf_version)
    assert runtime == numbers(version("protobuf")) == numbers(locked("protobuf"))
    for module in modules:
        made = re.search(r"^# Protobuf Python Version: (\S+)$", module.read_text(), re.MULTILINE)
        assert made, module
        assert numbers(made[1]) <= runtime, module
        assert numbers(made[1])[0] in (runtime[0], runtime[0] - 1), module


def test_generated_calls_suit_the_runtime() -> None:
    """grpcio refuses code of a newer generator; there is such code for service files only."""
    modules = sorted(GENERATED.rglob("*_pb2_grpc.py"))
    assert len(modules) == len(list(PROTO.rglob("*_service.proto")))
    for module in modules:
        made = re.search(r"^GRPC_GENERATED_VERSION = '(\S+)'$", module.read_text(), re.MULTILINE)
        assert made, module
        assert numbers(made[1]) <= numbers(grpc.__version__), module


def test_generated_code_is_that_of_the_contracts(contracts: FileDescriptorSet) -> None:
    """What is imported was generated from the files in proto/ as they are now (else: `make proto`)."""
    for file in ours(contracts):
        module = importlib.import_module(file.name.removesuffix(".proto").replace("/", ".") + "_pb2")
        assert Path(module.__file__ or "").is_relative_to(GENERATED)
        source = FileDescriptorProto()
        source.CopyFrom(file)
        source.ClearField("source_code_info")
        generated = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        assert _without_json_names(source) == _without_json_names(generated), f"{file.name} has changed"


def test_tortuga_is_a_namespace_that_other_wheels_may_add_to() -> None:
    """There is no `__init__.py` anywhere, and `py.typed` stands one level down."""
    assert not list(GENERATED.rglob("__init__.py"))
    assert not (GENERATED / "tortuga/py.typed").exists()
    parts = [part for part in (GENERATED / "tortuga").iterdir() if part.name != "__pycache__"]
    assert parts
    assert all((part / "py.typed").exists() for part in parts)


def _without_json_names(file: FileDescriptorProto) -> FileDescriptorProto:
    """protoc writes json names into descriptor sets only; nothing here depends on them."""
    waiting = list(file.message_type)
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        for field in message.field:
            field.ClearField("json_name")
    return file
