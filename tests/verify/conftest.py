"""The platform as `tortuga up` starts it, once for all tests of this folder that need processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

TORTUGA = (sys.executable, "-m", "services.cli.main")


@dataclass(frozen=True)
class Platform:
    """Where everything is."""

    gateway: str
    """host:port of the gateway's gRPC server."""
    http: tuple[str, ...]
    """Base URLs of all processes' HTTP servers."""
    data: Path


@pytest.fixture(scope="package")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A gateway and all games, each a process."""
    data = tmp_path_factory.mktemp("platform")
    free = ("--grpc-port", "0", "--http-port", "0", "--service-port", "0")
    command = (*TORTUGA, "up", "--data", str(data), "--json", *free)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            where = json.loads(process.stdout.readline())
            http = tuple(f"http://{member['http']}" for member in where["processes"].values())
            yield Platform(where["gateway"], http, data)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert process.returncode == 0, "tortuga up did not drain"
