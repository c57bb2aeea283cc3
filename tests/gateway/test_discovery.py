"""Static discovery and the gateway's settings."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.changes import Changes
from gateway.discovery.port import Pod
from gateway.discovery.static import StaticDiscovery, parse_services
from gateway.settings import GatewaySettings


@pytest.mark.parametrize(
    ("text", "pods"),
    [
        ("", []),
        (" ; ", []),
        ("nim=127.0.0.1:7101", [Pod("nim", "127.0.0.1:7101")]),
        (
            " nim = b.example.org:2 , a-1:1 ; go_4=[::1]:65535;",
            [Pod("go_4", "[::1]:65535"), Pod("nim", "a-1:1"), Pod("nim", "b.example.org:2")],
        ),
    ],
)
def test_services_are_read(text: str, pods: list[Pod]) -> None:
    """Games and their addresses, spaces ignored, in a fixed order."""
    assert list(parse_services(text)) == pods


@pytest.mark.parametrize(
    "text",
    [
        "nim",
        "nim=",
        "nim=,",
        "=a:1",
        "Nim=a:1",
        "nim=a",
        "nim=a:0",
        "nim=a:65536",
        "nim=http://a:1",
        "nim=a b:1",
        "nim=::1:1",
        "nim=a:1,a:1",
        "nim=a:1;nim=a:1",
    ],
)
def test_services_that_do_not_read_stop_the_gateway(text: str) -> None:
    """A bad setting is found at the start, by its name, and not by the first player."""
    with pytest.raises(ValueError, match=r".+"):
        parse_services(text)
    with pytest.raises(ValidationError, match="services"):
        GatewaySettings(services=text)


async def test_static_pods_stay() -> None:
    """They are known before the start, and never change."""
    pods = parse_services("nim=a:1,b:1")
    discovery = StaticDiscovery(pods)
    await discovery.start()
    assert list(discovery.pods()) == list(pods)
    assert discovery.changes.count == 0
    await discovery.close()


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """TORTUGA_ and the name; every setting says what it means; defaults are those of the documentation."""
    assert (GatewaySettings().token_seconds, GatewaySettings().start_seconds) == (900, 20)
    monkeypatch.setenv("TORTUGA_SERVICES", "nim=a:1")
    monkeypatch.setenv("TORTUGA_DATA", str(tmp_path / "data"))
    settings = GatewaySettings()
    assert settings.pods() == (Pod("nim", "a:1"),)
    assert settings.store_path() == tmp_path / "data" / "gateway.db"
    assert all(field.description for field in GatewaySettings.model_fields.values())


async def test_a_change_wakes_who_saw_less() -> None:
    """Who has seen all waits; several changes are one; who looks late does not wait at all."""
    changes = Changes()
    waiting = [asyncio.create_task(changes.after(0)) for _ in range(2)]
    await asyncio.sleep(0)
    changes.announce()
    changes.announce()
    assert await asyncio.gather(*waiting) == [2, 2]
    assert await changes.after(1) == 2
    late = asyncio.create_task(changes.after(2))
    await asyncio.sleep(0)
    assert not late.done()
    changes.announce()
    assert await late == 3
