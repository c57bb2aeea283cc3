"""Plunder's codec, by plain protobuf objects: public bytes first, own bytes behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from services.kit.rules import InvalidAction, InvalidOptions, Legal, Seat, Viewer
from tests.conformance.small_game.contract import kind, message
from tests.conformance.small_game.parts import (
    CARDS,
    CHEER,
    Action,
    Buried,
    Bury,
    Cheered,
    Dealt,
    Event,
    Laid,
    Lay,
    Opened,
    Options,
    Phase,
    Resigned,
    Revealed,
    View,
    bury,
)
from tests.conformance.small_game.position import Position


class PlunderWire:
    """The codec. It holds nothing."""

    def public_events(self, events: Sequence[Event]) -> bytes:
        return _update(events=[_event(form) for event in events if (form := event.public()) is not None])

    def own_events(self, events: Sequence[Event], seat: Seat) -> bytes:
        own = [(place, event.own(seat)) for place, event in enumerate(events, 1)]
        return _update(events=[_event(form, of=place) for place, form in own if form is not None])

    def legal(self, state: Position, seat: Seat) -> bytes:
        legal = state.legal(seat)
        return _update(legal=map(_action, legal.actions), templates=map(_action, legal.templates))

    def public_view(self, state: Position) -> bytes:
        view = state.view(None)
        names = ("round", "chest", "phase", "turn", "sizes", "stock", "laid", "played", "buried", "points", "cheered")
        fields = {name: getattr(view, name) for name in (*names, "resigned")}
        return _update(view=message("View", faces=[card + 1 for card in view.faces], **fields))

    def own_view(self, state: Position, seat: Seat) -> bytes:
        view = state.view(seat)
        return _update(view=message("View", hand=view.hand, face=view.face, grave=view.grave))

    def read_action(self, data: bytes) -> Action:
        try:
            return _read_action(kind("Action").FromString(data))
        except DecodeError:
            raise InvalidAction("MALFORMED") from None

    def write_action(self, action: Action) -> bytes:
        data: bytes = _action(action).SerializeToString(deterministic=True)
        return data

    def read_options(self, data: bytes) -> Options:
        try:
            sent: Any = kind("Options").FromString(data)
        except DecodeError:
            raise InvalidOptions("OPTION_MALFORMED") from None
        if len(UnknownFieldSet(sent)):
            raise InvalidOptions("OPTION_UNKNOWN", option=UnknownFieldSet(sent)[0].field_number)
        return Options(**{field.name: value for field, value in sent.ListFields()})

    def read_view(self, update: Message, viewer: Viewer) -> View:
        sent = _ours(update).view
        return View(
            round=sent.round,
            chest=sent.chest,
            phase=Phase(sent.phase),
            turn=Seat(sent.turn),
            sizes=tuple(sent.sizes),
            stock=sent.stock,
            laid=tuple(sent.laid),
            faces=tuple(card - 1 for card in sent.faces),
            played=tuple(sent.played),
            buried=tuple(sent.buried),
            points=tuple(sent.points),
            cheered=tuple(sent.cheered),
            resigned=tuple(sent.resigned),
            hand=tuple(sent.hand),
            face=sent.face if sent.HasField("face") else None,
            grave=tuple(sent.grave),
        )

    def read_events(self, update: Message) -> Sequence[Event]:
        events: list[Event] = []
        for sent in _ours(update).events:
            name = sent.WhichOneof("kind")
            event = _READ[name](getattr(sent, name))
            if sent.of:
                events[sent.of - 1] = event
            else:
                events.append(event)
        return events

    def read_legal(self, update: Message) -> Legal[Action]:
        sent = _ours(update)
        return Legal(list(map(_read_action, sent.legal)), list(map(_read_action, sent.templates)))


def _update(**fields: Any) -> bytes:
    data: bytes = message("Update", **fields).SerializeToString(deterministic=True)
    return data


def _ours(update: Message) -> Any:
    """*update* as a message of our own pool."""
    return update if isinstance(update, kind("Update")) else kind("Update").FromString(update.SerializeToString())


def _action(action: Action) -> Any:
    if isinstance(action, Lay):
        return message("Action", lay=message("Lay", card=action.card, open=action.open))
    if isinstance(action, Bury):
        return message("Action", bury=message("Bury", cards=action.cards))
    return message("Action", cheer=message("Cheer"))


def _read_action(sent: Any) -> Action:
    which = sent.WhichOneof("kind")
    if which == "cheer":
        return CHEER
    if which == "bury":
        return bury(list(sent.bury.cards))
    if which != "lay" or sent.lay.card >= CARDS:
        raise InvalidAction("MALFORMED")
    return Lay(sent.lay.card, sent.lay.open)


def _event(event: Event, of: int = 0) -> Any:
    name = type(event).__name__
    fields = {field.name: getattr(event, field.name) for field in kind(name).DESCRIPTOR.fields}
    return message("Event", of=of, **{name.lower(): message(name, **fields)})


_READ: dict[str, Callable[[Any], Event]] = {
    "dealt": lambda sent: Dealt(sent.size, sent.stock, tuple(sent.hand)),
    "opened": lambda sent: Opened(sent.round, sent.chest),
    "laid": lambda sent: Laid(Seat(sent.seat), sent.open, sent.card if sent.HasField("card") else None),
    "revealed": lambda sent: Revealed(tuple(sent.cards), Seat(sent.winner), sent.may_bury),
    "buried": lambda sent: Buried(Seat(sent.seat), sent.count, tuple(sent.cards), tuple(sent.drawn)),
    "cheered": lambda sent: Cheered(Seat(sent.seat)),
    "resigned": lambda sent: Resigned(Seat(sent.seat)),
}
