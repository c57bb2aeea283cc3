"""The commands `up` and `serve`, and what commands print. `up` runs the real platform."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer

from services.cli import output
from services.cli.progress import progress
from services.kit.game import installed_games
from tests.cli.test_fleet import gone

FREE = ("--grpc-port", "0", "--http-port", "0", "--service-port", "0")


async def tortuga(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.main", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )


async def serves(url: str) -> None:
    """Wait until *url* answers 200."""
    async with asyncio.timeout(20), httpx.AsyncClient(trust_env=False) as web:
        while True:
            try:
                if (await web.get(url)).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.02)


async def test_up_starts_everything_restarts_the_dead_and_drains_on_ctrl_c(tmp_path: Path) -> None:
    """One line of JSON says where all is; a killed service comes back; Ctrl-C leaves nothing behind and status 0."""
    up = await tortuga("up", "--data", str(tmp_path / "data"), *FREE, "--json")
    try:
        assert up.stdout is not None
        where: dict[str, Any] = json.loads(await asyncio.wait_for(up.stdout.readline(), 40))
        assert set(where["processes"]) == {"gateway", "bots", *installed_games()}
        await serves(f"{where['url']}/.well-known/jwks.json")
        game = where["processes"][installed_games()[0]]
        os.kill(game["pid"], signal.SIGKILL)
        await gone(game["pid"])
        await serves(f"http://{game['http']}/healthz")
        assert where["processes"]["gateway"]["pid"] in {int(path.name) for path in Path("/proc").glob("[0-9]*")}
    finally:
        up.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(up.communicate(), 20)
    assert up.returncode == 0
    assert out == b""
    assert err.decode().splitlines()[-2:] == ["draining", "stopped"]
    assert b"died (SIGKILL)" in err
    await gone(where["processes"]["gateway"]["pid"])
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


async def test_up_says_which_port_is_in_use(tmp_path: Path) -> None:
    """A second `up` on the same ports ends at once, in words."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        up = await tortuga("up", "--data", str(tmp_path), *FREE, "--grpc-port", port)
        out, err = await up.communicate()
    assert (up.returncode, out) == (1, b"")
    assert f"in use on 127.0.0.1: port {port}" in err.decode()


async def test_serve_names_what_there_is() -> None:
    """An unknown service is answered with the list of those that are installed."""
    serve = await tortuga("serve", "nonsense")
    out, err = await serve.communicate()
    assert (serve.returncode, out) == (2, b"")
    assert err.decode().strip() == (
        f"tortuga: no such service: nonsense. There are: {', '.join(['gateway', 'bots', *installed_games()])}"
    )


async def test_serve_names_a_setting_that_makes_no_sense(tmp_path: Path) -> None:
    """The variable and what is wrong with it, in one line, without a traceback."""
    serve = await tortuga("serve", "gateway", TORTUGA_GRPC_PORT="ninety", TORTUGA_DATA=str(tmp_path))
    _, err = await serve.communicate()
    assert serve.returncode == 2
    assert err.decode().startswith("tortuga: settings: TORTUGA_GRPC_PORT: ")
    assert len(err.splitlines()) == 1


def test_a_result_is_one_line_of_json_or_text(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json one object on one line on stdout; else the text; notes go to stderr."""
    output.note("working")
    output.result({"failed": 0, "text": "a\nb"}, as_json=True, text="unused")
    output.result({"failed": 0}, as_json=False, text="all well")
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()
    assert (json.loads(first), second) == ({"failed": 0, "text": "a\nb"}, "all well")
    assert captured.err == "working\n"


def test_a_failure_is_said_and_ends_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`fail` writes one line to stderr and raises the exit with its status."""
    with pytest.raises(typer.Exit) as raised:
        output.fail("no such game", 2)
    assert raised.value.exit_code == 2
    assert capsys.readouterr().err == "tortuga: no such game\n"


def test_progress_in_a_pipe_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """No bar, no control characters: a line at the end at the latest, on stderr."""
    with progress("matches", total=3) as bar:
        for _ in range(3):
            bar.advance()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "matches: 3/3\n")
