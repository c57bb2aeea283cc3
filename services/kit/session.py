"""The attachments of one outlet: frames in, requests to matches out. Links and clients' own streams both use it."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from services.kit.attachment import REFUSED, Answerable, Attachment, Delivery, Outlet
from services.kit.entry import KitStep
from services.kit.errors import DomainError, Forbidden, Malformed, NotServed, Refusal
from services.kit.faults import unplanned
from services.kit.host import Host
from services.kit.requests import Act, Attach
from services.kit.rules import RuleError
from services.kit.shell import metrics
from services.kit.telling import refusal
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import play_pb2

ACTION_ID_BYTES = 64
PLAYERS_ABORT = "PLAYER"
"""The reason kept when a player aborts a match that has not begun."""

_FOR_SYSTEM = {
    play_pb2.KIT_KIND_BEGIN,
    play_pb2.KIT_KIND_TIMEOUT,
    play_pb2.KIT_KIND_AWAY,
    play_pb2.KIT_KIND_RETURN,
    play_pb2.KIT_KIND_TAKE_OVER,
    play_pb2.KIT_KIND_CREDIT,
}
_LATER = {play_pb2.KIT_KIND_CLAIM, play_pb2.KIT_KIND_PAUSE, play_pb2.KIT_KIND_RESUME}
"""Kit actions of players that a later release serves."""


class Session:
    """Opens, feeds and closes attachments by the numbers that the outlet's other side chose."""

    def __init__(self, host: Host, outlet: Outlet) -> None:
        self._host = host
        self._outlet = outlet
        self._attachments: dict[int, Attachment] = {}
        self._request_type = host.game.message("PlayRequest")
        self._read_action = host.game.wire.read_action

    def open(self, number: int, wanted: link_pb2.Open) -> None:
        """Begin an attachment. The answer, or the reason why not, comes through the outlet."""
        attachment = Attachment(self._outlet, number, wanted.match_id, wanted.player_id)
        self._attachments[number] = attachment
        metrics.ATTACHMENTS.inc()
        wish = wanted.attach if wanted.HasField("attach") else None
        self._host.submit(wanted.match_id, Attach(attachment, wish, wanted.resume))

    def message(self, number: int, data: bytes, ticket: Answerable | None = None) -> None:
        """Take one of the game's PlayRequests; exactly one answer comes through the outlet."""
        attachment = self._attachments.get(number)
        if attachment is None:
            if ticket is not None:
                ticket.answered()
            return
        request = self._read(attachment, data, ticket)
        if attachment.admitted and attachment.seat is None:
            self._refuse(
                request, request.fault or Refusal("NOT_SEATED")
            )  # no crowd of spectators fills a match's queue
        else:
            self._host.submit(attachment.match_id, request)

    def close(self, number: int) -> None:
        """End an attachment; what it sent before still counts."""
        attachment = self._attachments.pop(number, None)
        if attachment is not None:
            metrics.ATTACHMENTS.dec()
            self._host.detach(attachment)

    def close_all(self) -> None:
        """End every attachment."""
        for number in list(self._attachments):
            self.close(number)

    def _read(self, attachment: Attachment, data: bytes, ticket: Answerable | None) -> Act:
        """Turn bytes into a request; what is wrong with them becomes a request that will be refused in its turn."""
        action_id = ""
        try:
            request: Any = self._request_type.FromString(data)
            header = request.header
            if len(header.action_id.encode()) <= ACTION_ID_BYTES:
                action_id = header.action_id
            kit, action = self._content(request)
            if header.match_id != attachment.match_id:
                raise Malformed("HEADER_MISMATCH")
            if not action_id:
                raise Malformed("ACTION_ID", limit=ACTION_ID_BYTES)
        except DecodeError:
            return Act(attachment, "", 0, ticket, fault=Malformed("MALFORMED"))
        except (DomainError, RuleError) as fault:
            return Act(attachment, action_id, 0, ticket, fault=fault)
        except Exception as error:  # a fault of a game's codec answers its own attachment and breaks no link
            return Act(attachment, action_id, 0, ticket, fault=unplanned(error, attachment.match_id))
        return Act(attachment, action_id, header.decision, ticket, action=action, kit=kit)

    def _refuse(self, request: Act, error: DomainError | RuleError) -> None:
        """Answer without the match."""
        attachment = request.attachment
        own = refusal(attachment.match_id, request.action_id, error)
        attachment.outlet.deliver(b"", [Delivery((attachment.number,), 0, own, REFUSED)])
        if request.ticket is not None:
            request.ticket.answered()

    def _content(self, request: Any) -> tuple[KitStep | None, Any]:
        """The kit action or the game's action of *request*, which must be exactly one."""
        has = request.HasField
        if has("action") + has("kit") + has("talk") + has("attach") + has("renew") != 1:
            raise Malformed("MALFORMED")
        if has("action"):
            return None, self._read_action(request.action.SerializeToString())
        if has("talk"):
            raise NotServed("NOT_SERVED")
        if not has("kit"):
            raise Malformed("MALFORMED")
        return _for_player(request.kit), None


def _for_player(kit: play_pb2.KitAction) -> KitStep:
    """What a player's kit action asks for; the seat is filled in by the match, which knows it."""
    if kit.kind == play_pb2.KIT_KIND_CONTRIBUTE:
        return KitStep(kit.kind, contribution=kit.contribution)
    if kit.kind == play_pb2.KIT_KIND_RESIGN:
        return KitStep(kit.kind)
    if kit.kind == play_pb2.KIT_KIND_ABORT:
        return KitStep(kit.kind, reason=PLAYERS_ABORT)
    if kit.kind in _FOR_SYSTEM:
        raise Forbidden("SYSTEM_ONLY")
    if kit.kind in _LATER:
        raise NotServed("NOT_SERVED")
    raise Malformed("KIT_KIND")
