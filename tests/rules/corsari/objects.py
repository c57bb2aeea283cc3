"""Light values as objects of the generated classes: the plain way, to hold the hand-made bytes against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from services.corsari.actions import Action, Discard, Draw
from services.corsari.cards import Cards
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
)
from services.corsari.splits import Split
from services.corsari.state import Position
from services.corsari.view import View
from services.kit.rules import Legal, Viewer
from tortuga.corsari.v1 import corsari_pb2 as pb


def update(state: Position, events: Sequence[Event], viewer: Viewer) -> pb.Update:
    """The whole update of *viewer*: events, what he may do, his view."""
    legal: Legal[Action] = Legal(()) if viewer is None else state.legal(viewer)
    return pb.Update(
        view=view(state.view(viewer)),
        events=[*public_events(events), *own_events(events, viewer)],
        legal=map(action, legal.actions),
        templates=map(action, legal.templates),
    )


def public_events(events: Sequence[Event]) -> list[pb.Event]:
    """What everyone sees."""
    return [event(public) for public in (each.public() for each in events) if public is not None]


def own_events(events: Sequence[Event], viewer: Viewer) -> list[pb.Event]:
    """What *viewer* alone sees, each naming the public event that it completes."""
    if viewer is None:
        return []
    owns = [(place, each.own(viewer)) for place, each in enumerate(events, 1)]
    return [event(own, of=place) for place, own in owns if own is not None]


def event(what: Event, of: int = 0) -> pb.Event:
    """One event."""
    sent = pb.Event(of=of)
    match what:
        case Dealt():
            sent.dealt.CopyFrom(dealt(what))
        case Drawn(seat, source, card):
            sent.drawn.CopyFrom(pb.Drawn(seat=seat, source=source.value, card=card))  # type: ignore[arg-type]  # the light enum has the contract's numbers
        case Discarded(seat, card):
            sent.discarded.CopyFrom(pb.Discarded(seat=seat, card=card))
        case Sailed(how):
            sent.sailed.CopyFrom(split(how))
        case Declared(seat, how):
            sent.declared.CopyFrom(pb.Declared(seat=seat, split=None if how is None else split(how)))
        case Scored():
            sent.scored.CopyFrom(scored(what))
        case HandVoided(reason):
            sent.hand_voided.CopyFrom(pb.HandVoided(reason=reason.value))  # type: ignore[arg-type]  # the light enum has the contract's numbers
        case Resigned(seat):
            sent.resigned.CopyFrom(pb.Resigned(seat=seat))
    return sent


def dealt(what: Dealt) -> pb.Dealt:
    """A deal."""
    return pb.Dealt(
        hand_number=what.hand_number,
        dealer=what.dealer,
        dock=what.dock,
        discard=what.discard,
        stock_size=what.stock_size,
        last_hand=what.last_hand,
        extra_hand=what.extra_hand,
        hand=what.hand,
    )


def scored(what: Scored) -> pb.Scored:
    """A score."""
    return pb.Scored(
        splits=map(split, what.splits),
        sent_under=what.sent_under,
        penalty=in_a_row(what.penalty),
        penalty_sizes=map(len, what.penalty),
        cappotto=what.cappotto,
    )


def split(how: Split) -> pb.Split:
    """A split."""
    return pb.Split(
        seat=how.seat,
        crew=how.crew,
        attached=how.attached,
        stowaways=how.stowaways,
        prisoners=how.prisoners,
        limit=how.limit,
    )


def view(seen: View) -> pb.View:
    """A view with its own fields, where it has any."""
    return pb.View(
        hand_number=seen.hand_number,
        phase=seen.phase.value,  # type: ignore[arg-type]  # the light enum has the contract's numbers
        turn=seen.turn,
        dealer=seen.dealer,
        dock=seen.dock,
        discard=seen.discard,
        stock_size=seen.stock_size,
        hand_sizes=seen.hand_sizes,
        known=in_a_row(seen.known),
        known_sizes=map(len, seen.known),
        penalty=in_a_row(seen.penalty),
        penalty_sizes=map(len, seen.penalty),
        last_hand=seen.last_hand,
        must_sail=seen.must_sail,
        quiet_turns=seen.quiet_turns,
        void_streak=seen.void_streak,
        closer=None if seen.closer is None else split(seen.closer),
        declared=seen.declared,
        drew=seen.drew.value if seen.drew else 0,  # type: ignore[arg-type]  # the light enum has the contract's numbers
        taken=seen.taken,
        resigned=seen.resigned,
        extra_hand=seen.extra_hand,
        hand=seen.hand,
        drawn=seen.drawn,
        split=None if seen.split is None else split(seen.split),
    )


def action(what: Action) -> pb.Action:
    """An action."""
    if isinstance(what, Draw):
        return pb.Action(draw=pb.Draw(source=what.source.value))  # type: ignore[arg-type]  # the light enum has the contract's numbers
    if isinstance(what, Discard):
        sail = None if what.sail is None else pb.Sail(auto=what.sail.auto, crew=what.sail.crew)
        return pb.Action(discard=pb.Discard(card=what.card, sail=sail))
    return pb.Action(partition=pb.Partition(auto=what.auto, crew=what.crew, attach=what.attach))


def in_a_row(lists: Iterable[Cards]) -> list[int]:
    """Lists one after the other."""
    return list(chain.from_iterable(lists))
