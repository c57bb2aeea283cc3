"""Build hook: Python code from the contracts.

Runs protoc (from grpcio-tools) over this folder and writes messages, mypy-protobuf stubs, and gRPC stubs for
`*_service.proto` into `.generated/`, with the contracts beside them: a game from another package compiles its own
against those that are installed. `tortuga` stays a namespace package: no `__init__.py` at any level that another wheel
may add to; `py.typed` one level down.
"""

from __future__ import annotations

import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from grpc_tools import protoc  # type: ignore[import-untyped]  # it comes without stubs
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def generate(root: Path) -> Path:
    """Generate everything below *root*`/proto` into *root*`/.generated` and return that folder.

    The old code stays as it was until all of the new is there.

    Raises:
        RuntimeError: a plugin is missing, or protoc refused a file; protoc's own messages are on stderr.
    """
    target, fresh, old = (root / name for name in (".generated", ".generated.new", ".generated.old"))
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        _run_protoc(root / "proto", fresh)
        for contract in (root / "proto").rglob("*.proto"):
            shutil.copyfile(contract, fresh / contract.relative_to(root / "proto"))
        for part in (fresh / "tortuga").iterdir():
            (part / "py.typed").touch()
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return target


def _run_protoc(source: Path, target: Path) -> None:
    """Messages and their stubs for all files; calls and their stubs for `*_service.proto`."""
    protos = sorted(str(path.relative_to(source)) for path in source.rglob("*.proto"))
    services = [name for name in protos if name.endswith("_service.proto")]
    common = ["protoc", f"--proto_path={source}", f"--proto_path={files('grpc_tools') / '_proto'}"]
    mypy, mypy_grpc = (f"--plugin={name}={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc"))
    for step in (
        [*common, mypy, f"--python_out={target}", f"--mypy_out=quiet:{target}", *protos],
        [*common, mypy_grpc, f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet:{target}", *services],
    ):
        if protoc.main(step) != 0:
            raise RuntimeError("protoc refuses the contracts")


def _plugin(name: str) -> str:
    """The path of a protoc plugin: beside this interpreter (a venv that is not activated), else on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed")
    return found


class ProtoBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own hooks leave it open too
    """Generates before a wheel or an editable install is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate, and add the code to a standard wheel (an editable one reads `.generated/` itself)."""
        if self.target_name != "wheel":
            return
        target = generate(Path(self.root))
        if version == "standard":
            build_data["force_include"][str(target / "tortuga")] = "tortuga"
            # games from other packages are checked against the kit's types (PEP 561)
            build_data["force_include"][str(target / "tortuga/play/py.typed")] = "services/py.typed"


if __name__ == "__main__":
    generate(Path(__file__).resolve().parent.parent)
