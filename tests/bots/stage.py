"""A real bots' process over a game that is installed for it, and questions to ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from services.kit.game import AnyGame
from services.kit.rules import Seat
from services.kit.step import RUNNING, Step
from tests.conformance.bots import position
from tests.conformance.ground import QUICK, Ground, Line
from tests.conformance.match import able
from tests.conformance.small_game import GAME
from tortuga.bots.v1.bot_service_pb2 import Position

ROOT = Path(__file__).resolve().parents[2]

_READY_SECONDS = 30.0
_MANY = 6


def installed(folder: Path, module: str = "tests.bots.troubled") -> str:
    """A PYTHONPATH on which the small game, as *module* offers it, is an installed package."""
    metadata = folder / "plunder_game-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plunder-game\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[tortuga.games]\nplunder = {module}:GAME\n")
    return os.pathsep.join((str(folder), str(ROOT)))


@dataclass
class BotsProcess:
    """`tortuga serve bots`, running."""

    process: subprocess.Popen[str]
    address: str
    http: str
    log: Path

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def workers(self) -> set[int]:
        """Process ids of its children that run."""
        return {pid for pid, parent in _parents() if parent == self.pid}

    def events(self) -> list[dict[str, Any]]:
        """What it and its workers have logged; what bots print is left out."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


@contextmanager
def bots_process(folder: Path, **settings: object) -> Iterator[BotsProcess]:
    """Start it over the troubled game and what is installed anyway; *settings* are those of `BotsSettings`."""
    log = folder / "bots.log"
    variables = {f"TORTUGA_{name.upper()}": str(value) for name, value in settings.items()}
    environment = {**os.environ, "PYTHONPATH": installed(folder / "packages"), **variables}
    command = [str(Path(sys.executable).with_name("tortuga")), "serve", "bots", "--grpc-port", "0", "--http-port", "0"]
    with log.open("w") as out, subprocess.Popen(command, stderr=out, stdout=out, env=environment, text=True) as process:
        try:
            ready = _ready(process, log)
            yield BotsProcess(process, f"127.0.0.1:{ready['grpc_port']}", f"http://127.0.0.1:{ready['http_port']}", log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(15)


def positions(game: AnyGame, seed: str, count: int) -> Iterator[tuple[Line, Step, Seat]]:
    """*count* seats that have a decision to make, in random matches of *game*."""
    ground = Ground(game, "bots", QUICK, seed)
    found = 0
    for line in ground.lines():
        steps = [step for step in line.play(most=60) if step.standing.state == RUNNING]
        for step in line.luck.sample(steps, min(3, len(steps))):
            asked = [seat for seat, _ in step.asked if seat in able(line.match, step)]
            if asked and found < count:
                found += 1
                yield line, step, line.luck.choice(asked)
    assert found == count


def a_position(bot: str = "wild", of: str = "one", **changes: Any) -> Position:
    """A good position of the small game, of many choices, made from *of*; *changes* replace fields."""
    found = next(
        position(GAME, line, step.game, seat)
        for line, step, seat in positions(GAME, of, 12)
        if len(_state(step).legal(seat).actions) >= _MANY
    )
    found.bot, found.seed = bot, Random(of).randbytes(32)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def _state(step: Step) -> Any:
    return step.game


def runs(pid: int) -> bool:
    """Whether the process *pid* runs, and is no mere entry that its parent has not read yet."""
    return pid in {child for child, _ in _parents()}


def _parents() -> Iterator[tuple[int, int]]:
    """All running processes, each with its parent."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            yield int(stat.parent.name), int(parent)


def _ready(process: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    until = time.monotonic() + _READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        for line in log.read_text().splitlines():
            if '"ready"' in line and line.endswith("}"):
                found: dict[str, Any] = json.loads(line)
                return found
        time.sleep(0.02)
    raise AssertionError(f"not ready: {log.read_text()}")
