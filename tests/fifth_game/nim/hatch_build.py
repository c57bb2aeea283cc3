"""Build hook: Python code from this game's contracts. It names no game: copy it as it is.

Runs protoc (from grpcio-tools) over `proto/` into `.generated/`: messages, stubs, and gRPC code for `*_service.proto`.
What the contracts import, `tortuga/play/v1/*.proto`, is found where tortuga-games is installed. `tortuga` is a
namespace that many packages share: only what this package's own contracts make goes into its wheel.
"""

from __future__ import annotations

import shutil
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grpc_tools import protoc  # type: ignore[import-untyped]  # it comes without stubs
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtoBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own hooks leave it open too
    """Generates before a wheel or an editable install is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate, and add the code to a standard wheel (an editable one reads `.generated/` itself)."""
        if self.target_name == "wheel":
            target = _generate(Path(self.root))
            if version == "standard":
                build_data["force_include"][str(target / "tortuga")] = "tortuga"


def _generate(root: Path) -> Path:
    """Generate from *root*`/proto` into *root*`/.generated`; the contracts themselves go beside the code."""
    source, target = root / "proto", root / ".generated"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    protos = sorted(str(path.relative_to(source)) for path in source.rglob("*.proto"))
    services = [name for name in protos if name.endswith("_service.proto")]
    folders = [source, *_installed_contracts(), files("grpc_tools") / "_proto"]
    common = ["protoc", *(f"--proto_path={folder}" for folder in folders)]
    mypy, mypy_grpc = (f"--plugin={name}={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc"))
    for step in (
        [*common, mypy, f"--python_out={target}", f"--mypy_out=quiet:{target}", *protos],
        [*common, mypy_grpc, f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet:{target}", *services],
    ):
        if protoc.main(step) != 0:
            raise RuntimeError("protoc refuses the contracts")
    for part in (target / "tortuga").iterdir():
        (part / "py.typed").touch()
    return target


def _installed_contracts() -> list[Path]:
    """Folders in which installed packages have their `tortuga/…/*.proto`."""
    installed = find_spec("tortuga")
    if installed is None or installed.submodule_search_locations is None:
        raise RuntimeError("tortuga-games is not installed")
    return [Path(place).parent for place in installed.submodule_search_locations]


def _plugin(name: str) -> str:
    """The path of a protoc plugin: beside this interpreter (a venv that is not activated), else on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed")
    return found
