"""A generic gRPC client, which knows nothing but the address: everything by reflection."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_BUF = Path(sys.executable).with_name("buf")
_IDENTITY = "tortuga.gateway.v1.IdentityService"
_TICKETS = "tortuga.gateway.v1.MatchmakingService"
_CORSARI = "tortuga.corsari.v1.CorsariService"

pytestmark = pytest.mark.skipif(not _BUF.exists(), reason="buf is not installed")


class _Curl:
    """`buf curl` as one player."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self.token = ""

    def call(self, method: str, **request: Any) -> Any:
        """Call a unary method; its answer as JSON."""
        done = subprocess.run(self._command(method, request), capture_output=True, text=True, timeout=30, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def watch(self, method: str, **request: Any) -> Iterator[Any]:
        """Call a streaming method; each answer as JSON. Hangs up when it is closed."""
        with subprocess.Popen(self._command(method, request), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            text = ""
            try:
                for line in process.stdout:
                    text += line
                    if line.rstrip() == "}":
                        yield json.loads(text)
                        text = ""
            finally:
                process.kill()

    def _command(self, method: str, request: Any) -> list[str]:
        command = [str(_BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge", "--data", json.dumps(request)]
        if self.token:
            command += ["--header", f"authorization: Bearer {self.token}"]
        return [*command, f"http://{self._gateway}/{method.replace('#', '/')}"]


def test_two_guests_play_a_draw_and_a_discard(gateway: str) -> None:
    """Catalogue, sign-in, tickets, Watch, and two actions by Act, with a command-line client."""
    players = [_Curl(gateway), _Curl(gateway)]
    games = players[0].call("tortuga.gateway.v1.CatalogService/ListGames")["games"]
    assert "corsari" in [game["game"] for game in games]
    tickets = []
    for number, player in enumerate(players):
        signed_in = player.call(f"{_IDENTITY}/SignInAsGuest", display_name=f"Guest {number}")
        player.token = signed_in["tokens"]["accessToken"]
        wish = {"game": "corsari", "seats": 2}
        tickets.append(player.call(f"{_TICKETS}/CreateTicket", request_id=f"r{number}", wish=wish)["ticket"])
    match_ids = {_match_of(player, ticket["ticketId"]) for player, ticket in zip(players, tickets, strict=True)}
    assert len(match_ids) == 1
    match_id = match_ids.pop()
    for number, player in enumerate(players):
        contribution = base64.b64encode(bytes([number]) * 32).decode()
        kit = {"kind": "KIT_KIND_CONTRIBUTE", "contribution": contribution}
        applied = player.call(f"{_CORSARI}/Act", header={"match_id": match_id, "action_id": "c"}, kit=kit)["applied"]
        assert applied["actionId"] == "c"
    views = [_running(player, match_id) for player in players]
    [turn] = [number for number, view in enumerate(views) if view["header"].get("decision")]
    player, decision = players[turn], views[turn]["header"]["decision"]
    drawn = _act(player, match_id, "draw", decision, {"draw": {"source": "SOURCE_STOCK"}})
    assert drawn["applied"]["actionId"] == "draw"
    choices = [action for action in drawn["update"]["legal"] if "sail" not in action.get("discard", {"sail": {}})]
    discarded = _act(player, match_id, "discard", drawn["header"]["decision"], choices[0])
    assert not discarded["header"].get("decision"), "the turn has passed"
    assert _act(player, match_id, "discard", drawn["header"]["decision"], choices[0])["applied"] == discarded["applied"]
    with pytest.raises(RuntimeError, match="NOT_YOUR_TURN"):
        _act(player, match_id, "again", 0, {"draw": {"source": "SOURCE_STOCK"}})


def _match_of(player: _Curl, ticket_id: str) -> str:
    for answer in player.watch(f"{_TICKETS}/WatchTicket", ticket_id=ticket_id):
        if answer["ticket"]["state"] == "TICKET_STATE_ASSIGNED":
            return str(answer["ticket"]["matchId"])
    raise AssertionError("the ticket ended without a match")


def _running(player: _Curl, match_id: str) -> Any:
    """The first message of `Watch` that shows the match running."""
    for answer in player.watch(f"{_CORSARI}/Watch", header={"match_id": match_id}):
        if "view" in answer.get("update", {}):
            return answer
    raise AssertionError("the match never ran")


def _act(player: _Curl, match_id: str, action_id: str, decision: Any, action: Any) -> Any:
    header = {"match_id": match_id, "action_id": action_id, "decision": decision}
    return player.call(f"{_CORSARI}/Act", header=header, action=action)
