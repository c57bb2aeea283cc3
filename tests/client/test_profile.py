"""A saved sign-in, against a real gateway's identity service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.client import Client, Profile
from tests.gateway.harness import Gateway, running


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway on a port of its own."""
    async with running(tmp_path / "data") as found:
        yield found


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """None saved yet."""
    return Profile.load(tmp_path / "config" / "profile.json")


async def test_player_comes_back(gateway: Gateway, profile: Profile) -> None:
    """With the profile the next client is the same player, under the name as it is by now; each sign-in rotates."""
    async with Client(gateway.address, profile=profile) as client:
        player = await client.sign_in("Anne")
        await client.set_display_name("Anne Bonny")
        first = profile.refresh_token
    async with Client(gateway.address, profile=Profile.load(profile.path)) as client:
        again = await client.sign_in("someone else")
        assert (again.player_id, again.display_name) == (player.player_id, "Anne Bonny")
    saved = Profile.load(profile.path)
    assert (saved.player_id, saved.display_name) == (player.player_id, "Anne Bonny")
    assert saved.refresh_token not in {"", first}


async def test_sign_in_that_holds_no_more_makes_a_new_guest(gateway: Gateway, profile: Profile) -> None:
    """Revoked, erased, or of another platform: nobody is left without a way in."""
    async with Client(gateway.address, profile=profile) as client:
        player = await client.sign_in("Anne")
        await client.erase()
        assert not profile.path.exists()
        assert (await client.sign_in("Anne")).player_id != player.player_id
    for change in ({"refresh_token": "A" * 43}, {"target": "elsewhere:1"}):
        known = Profile.load(profile.path)
        before = known.player_id
        for name, value in change.items():
            setattr(known, name, value)
        async with Client(gateway.address, profile=known) as client:
            assert (await client.sign_in("Mary")).player_id != before
        assert Profile.load(profile.path).display_name == "Mary"


def test_profile_is_private_and_whole(profile: Profile) -> None:
    """Mode 0600; what does not read is an empty profile; no token in its repr."""
    profile.refresh_token = "secret"
    profile.save()
    assert profile.path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in profile.path.parent.iterdir()] == ["profile.json"]
    assert Profile.load(profile.path) == profile
    assert "secret" not in repr(profile)
    for text in ("", "[]", "{", json.dumps({"player_id": 3})):
        profile.path.write_text(text)
        assert Profile.load(profile.path) == Profile(profile.path)


def test_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """TORTUGA_PROFILE, else the user's configuration folder."""
    monkeypatch.delenv("TORTUGA_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Profile.load().path == tmp_path / "tortuga" / "profile.json"
    monkeypatch.setenv("TORTUGA_PROFILE", str(tmp_path / "mine.json"))
    assert Profile.load().path == tmp_path / "mine.json"
