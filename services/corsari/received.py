"""From the contract's messages to light values: actions that clients send, updates that they receive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from services.corsari.actions import (
    DRAWS,
    MOST_CARDS,
    PARTITION_AUTO,
    PLAIN,
    SAIL_AUTO,
    Action,
    Discard,
    Draw,
    Source,
    partition_into,
    sail_with,
)
from services.corsari.cards import COUNT, NONE, Cards
from services.corsari.events import (
    Dealt,
    Declared,
    Discarded,
    Drawn,
    Event,
    HandVoided,
    Resigned,
    Sailed,
    Scored,
    VoidReason,
)
from services.corsari.phases import Phase
from services.corsari.splits import Split
from services.corsari.view import View
from services.kit.rules import InvalidAction, Seat, Viewer
from tortuga.corsari.v1 import corsari_pb2 as pb

_SOURCES: Final = frozenset(map(int, Source))


def action_from(data: bytes) -> Action:
    """Read the bytes of an `Action`.

    Raises:
        InvalidAction: SOURCE for an unknown source (K5), else MALFORMED.
    """
    try:
        return action_of(pb.Action.FromString(data))
    except DecodeError:
        raise InvalidAction("MALFORMED") from None


def action_of(sent: pb.Action) -> Action:
    """The light action of *sent*.

    Raises:
        InvalidAction: SOURCE for an unknown source (K5), else MALFORMED.
    """
    match sent.WhichOneof("kind"):
        case "draw":
            return _draw(sent.draw)
        case "discard":
            return _discard(sent.discard)
        case "partition":
            return _partition(sent.partition)
    raise InvalidAction("MALFORMED")


def _draw(sent: pb.Draw) -> Draw:
    if sent.source not in _SOURCES:
        raise InvalidAction("SOURCE")
    return DRAWS[sent.source - 1]


def _discard(sent: pb.Discard) -> Discard:
    if sent.card >= COUNT:
        raise InvalidAction("MALFORMED")
    if not sent.HasField("sail"):
        return PLAIN[sent.card]
    if not sent.sail.auto:
        return sail_with(sent.card, _cards(sent.sail.crew))
    if sent.sail.crew:
        raise InvalidAction("MALFORMED")
    return SAIL_AUTO[sent.card]


def _partition(sent: pb.Partition) -> Action:
    if not sent.auto:
        return partition_into(_cards(sent.crew), _cards(sent.attach))
    if sent.crew or sent.attach:
        raise InvalidAction("MALFORMED")
    return PARTITION_AUTO


def _cards(sent: Sequence[int]) -> Cards:
    """Cards that a client lists: no more than a hand has, each of them one of the game's."""
    if len(sent) > MOST_CARDS or any(card >= COUNT for card in sent):
        raise InvalidAction("MALFORMED")
    return bytes(sent)


def events_of(update: pb.Update) -> list[Event]:
    """The events of an update in order, own forms in place of the public ones that they complete."""
    events: list[Event] = []
    for sent in update.events:
        event = _event(sent)
        if sent.of:
            events[sent.of - 1] = event
        else:
            events.append(event)
    return events


def _event(sent: pb.Event) -> Event:
    kind = sent.WhichOneof("kind")
    if kind is None:
        raise ValueError("an event of no kind that this client knows")
    return _KINDS[kind](getattr(sent, kind))


def _drawn(sent: pb.Drawn) -> Event:
    return Drawn(Seat(sent.seat), Source(sent.source), sent.card if sent.HasField("card") else None)


def _discarded(sent: pb.Discarded) -> Event:
    return Discarded(Seat(sent.seat), sent.card)


def _sailed(sent: pb.Split) -> Event:
    return Sailed(split_of(sent))


def _declared(sent: pb.Declared) -> Event:
    return Declared(Seat(sent.seat), split_of(sent.split) if sent.HasField("split") else None)


def _hand_voided(sent: pb.HandVoided) -> Event:
    return HandVoided(VoidReason(sent.reason))


def _resigned(sent: pb.Resigned) -> Event:
    return Resigned(Seat(sent.seat))


def _dealt(sent: pb.Dealt) -> Event:
    return Dealt(
        hand_number=sent.hand_number,
        dealer=Seat(sent.dealer),
        dock=bytes(sent.dock),
        discard=sent.discard,
        stock_size=sent.stock_size,
        last_hand=sent.last_hand,
        extra_hand=sent.extra_hand,
        hand=bytes(sent.hand),
    )


def _scored(sent: pb.Scored) -> Event:
    return Scored(
        splits=tuple(map(split_of, sent.splits)),
        sent_under=_seats(sent.sent_under),
        penalty=_lists(sent.penalty, sent.penalty_sizes),
        cappotto=_seats(sent.cappotto),
    )


_KINDS: Final[dict[str, Callable[[Any], Event]]] = {
    "dealt": _dealt,
    "drawn": _drawn,
    "discarded": _discarded,
    "sailed": _sailed,
    "declared": _declared,
    "scored": _scored,
    "hand_voided": _hand_voided,
    "resigned": _resigned,
}


def split_of(sent: pb.Split) -> Split:
    """The light split of *sent*."""
    return Split(
        seat=Seat(sent.seat),
        crew=bytes(sent.crew),
        attached=bytes(sent.attached),
        stowaways=bytes(sent.stowaways),
        prisoners=bytes(sent.prisoners),
        limit=sent.limit,
    )


def view_of(sent: pb.View, viewer: Viewer) -> View:
    """The light view of *sent*, without own fields for a spectator."""
    own = viewer is not None
    return View(
        hand_number=sent.hand_number,
        phase=Phase(sent.phase),
        turn=Seat(sent.turn),
        dealer=Seat(sent.dealer),
        dock=bytes(sent.dock),
        discard=bytes(sent.discard),
        stock_size=sent.stock_size,
        hand_sizes=tuple(sent.hand_sizes),
        known=_lists(sent.known, sent.known_sizes),
        penalty=_lists(sent.penalty, sent.penalty_sizes),
        last_hand=sent.last_hand,
        must_sail=sent.must_sail,
        quiet_turns=sent.quiet_turns,
        void_streak=sent.void_streak,
        closer=split_of(sent.closer) if sent.HasField("closer") else None,
        declared=_seats(sent.declared),
        drew=Source(sent.drew) if sent.drew else None,
        taken=sent.taken if sent.HasField("taken") else None,
        resigned=_seats(sent.resigned),
        extra_hand=sent.extra_hand,
        hand=bytes(sent.hand) if own else NONE,
        drawn=sent.drawn if own and sent.HasField("drawn") else None,
        split=split_of(sent.split) if own and sent.HasField("split") else None,
    )


def _seats(sent: Iterable[int]) -> tuple[Seat, ...]:
    return tuple(map(Seat, sent))


def _lists(cards: Sequence[int], sizes: Iterable[int]) -> tuple[Cards, ...]:
    """One list of cards a seat, from all of them in a row."""
    lists = []
    start = 0
    for size in sizes:
        lists.append(bytes(cards[start : start + size]))
        start += size
    return tuple(lists)
