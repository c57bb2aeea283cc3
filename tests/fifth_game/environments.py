"""Fresh virtual environments with wheels in them, made quickly and without a network.

The wheels are installed by pip. What they depend on is not downloaded: it is taken, distribution by distribution, from
the environment that runs the tests, and no more than the wheels' own metadata asks for. So a dependency that is used
but not declared is missing there, as it would be for whoever installs the wheels elsewhere.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_LAUNCHER = """#!{python}
import sys
from {module} import {function}
sys.exit({function}())
"""


class Environment:
    """A virtual environment below *folder*."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin/python"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.packages = folder / "lib" / version / "site-packages"

    @classmethod
    def made(cls, folder: Path, *wheels: Path, extra: str = "") -> Environment:
        """A new one with *wheels* and all that they depend on, by their *extra* as well."""
        new = cls(folder)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        names: set[str] = {canonicalize_name(wheel.name.partition("-")[0]) for wheel in wheels}
        needed = [requirement for wheel in wheels for requirement in _requirements(wheel)]
        for lent in _closure(needed, {"", extra}, names):
            new._borrow(lent)
        new.install(*wheels)
        return new

    def install(self, *wheels: Path) -> None:
        """Install *wheels*; what they depend on must be there."""
        pip(self.python, "install", "--no-index", "--no-deps", *map(str, wheels))
        pip(self.python, "check")

    def run(
        self, *command: str, timeout: float, cwd: Path | None = None, status: int = 0, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, which must end with *status*, and return what it printed.

        *variables* are set for it besides.
        """
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            cwd=cwd or self.folder,
            env={**os.environ, **ALONE, "PATH": path, **variables},
        )
        assert done.returncode == status, f"{' '.join(command)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def _borrow(self, lent: Distribution) -> None:
        """Link every file of an installed distribution, programs too, and write its console scripts anew."""
        scripts = {script.name: script for script in lent.entry_points.select(group="console_scripts")}
        for file in lent.files or ():
            source, target = Path(str(lent.locate_file(file))), self.packages / file
            if ".." in file.parts:
                target = self.folder / "bin" / file.name
                if file.parts[-2] != "bin" or file.name in scripts:
                    continue
            if source.is_file() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source)
        for name, script in scripts.items():
            launcher = self.folder / "bin" / name
            launcher.write_text(_LAUNCHER.format(python=self.python, module=script.module, function=script.attr))
            launcher.chmod(0o755)


ALONE = {"PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}
"""What a process needs in its environment to see nothing but its own environment."""


def pip(python: Path, *arguments: str) -> None:
    """Run pip for the environment of *python*; it must end well."""
    # An environment that was made without ensurepip has none of its own: then the pip is the base interpreter's.
    owner = sys.executable if importlib.util.find_spec("pip") else str(Path(sys.base_prefix) / "bin/python3")
    command = [owner, "-m", "pip", "--python", str(python), *arguments, "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **ALONE}
    )
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"


def _requirements(wheel: Path) -> list[Requirement]:
    """What a wheel says that it depends on."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    return [Requirement(line) for line in metadata.get_all("Requires-Dist", ())]


def _closure(needed: Iterable[Requirement], wanted: set[str], without: set[str]) -> list[Distribution]:
    """The installed distributions that *needed* ask for, directly or not.

    *wanted* are the extras that are chosen ("" for none), *without* names that are left out.
    """
    found: dict[str, Distribution] = {}
    chosen: dict[str, set[str]] = {}
    waiting = [requirement for requirement in needed if _applies(requirement, wanted)]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = {"", *requirement.extras} - chosen.get(name, set())
        if name in without or not extras:
            continue
        lent = found[name] = distribution(name)
        assert requirement.specifier.contains(lent.version, prereleases=True), requirement
        chosen.setdefault(name, set()).update(extras)
        waiting += [further for further in map(Requirement, lent.requires or ()) if _applies(further, extras)]
    return list(found.values())


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)
