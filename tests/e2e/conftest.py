"""The platform as `tortuga up` starts it, once for all tests of this folder that only use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TORTUGA = (sys.executable, "-m", "services.cli.main")
"""The command line, whatever is installed in the environment."""


@pytest.fixture(scope="package")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """host:port of the gateway of a platform that is up."""
    data: Path = tmp_path_factory.mktemp("up")
    free = ("--grpc-port", "0", "--http-port", "0", "--service-port", "0")
    command = (*TORTUGA, "up", "--data", str(data), "--json", *free)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address: str = json.loads(process.stdout.readline())["gateway"]
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert process.returncode == 0, "tortuga up did not drain"
