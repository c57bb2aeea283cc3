"""`events_and_views`: what a viewer was shown, applied to what it knew, is what it knows; through the wire, too."""

from __future__ import annotations

from typing import Any, cast

from google.protobuf.descriptor import Descriptor

from services.kit.rules import Viewer, shown
from services.kit.step import RUNNING, Step
from tests.conformance.contract import served
from tests.conformance.ground import Ground
from tests.conformance.match import Match
from tests.contract.concatenation import concatenation_faults
from tests.contract.rules import own_fields


def events_and_views(ground: Ground) -> None:
    """For every viewer at every step, time-outs and resignations among them; bytes are public ones and own behind."""
    game, expect = ground.game, ground.findings.expect
    hidden = _own_fields(ground)
    for line in ground.lines():
        views: dict[Viewer, Any] = {}
        for step in line.play(rare=0.06):
            state: Any = step.game
            for viewer in line.match.table.viewers:
                view = state.view(viewer)
                if viewer in views:
                    followed = game.rules.follow(views[viewer], shown(step.events, viewer), viewer)
                    expect(followed == view, "FOLLOW", f"viewer {viewer} after {step.entry.text}")
                    _over_the_wire(ground, line.match, step, viewer, views[viewer])
                views[viewer] = view
                if line.look(step):
                    _concatenates(ground, line.match, step, viewer, hidden)


def _over_the_wire(ground: Ground, match: Match, step: Step, viewer: Viewer, before: Any) -> None:
    """The messages of the step and of an attach after it, read back."""
    game, expect = ground.game, ground.findings.expect
    state: Any = step.game
    response = game.message("PlayResponse")
    sent = match.told(step, viewer)
    hears = sent is not None
    expect(hears or not shown(step.events, viewer), "UNSENT", f"viewer {viewer} after {step.entry.text}")
    if sent is not None:
        update: Any = response.FromString(b"".join(sent))
        events = list(game.wire.read_events(update.update))
        expect(events == shown(step.events, viewer), "EVENTS_READ", f"viewer {viewer} after {step.entry.text}")
        followed = game.rules.follow(before, events, viewer)
        expect(followed == state.view(viewer), "FOLLOW_READ", f"viewer {viewer} after {step.entry.text}")
        _legal_read(ground, step, viewer, update)
    attached: Any = response.FromString(match.whole(step, viewer))
    expect(game.wire.read_view(attached.update, viewer) == state.view(viewer), "VIEW_READ", f"viewer {viewer}")
    _legal_read(ground, step, viewer, attached)


def _legal_read(ground: Ground, step: Step, viewer: Viewer, message: Any) -> None:
    read = ground.game.wire.read_legal(message.update)
    state: Any = step.game
    if viewer is None or step.standing.state != RUNNING:
        same = not read.actions and not read.templates
    else:
        legal = state.legal(viewer)
        same = list(read.actions) == list(legal.actions) and list(read.templates) == list(legal.templates)
    ground.findings.expect(same, "LEGAL_READ", f"viewer {viewer}")


def _concatenates(ground: Ground, match: Match, step: Step, viewer: Viewer, hidden: frozenset[str]) -> None:
    """The rule of concatenation, for what is sent of the step and for a view that is asked for."""
    wire = ground.game.wire
    kind = cast(Descriptor, ground.game.message("PlayResponse").DESCRIPTOR)
    pieces = [match.told(step, viewer)]
    faults = [fault for sent in pieces if sent is not None for fault in concatenation_faults(kind, *sent, hidden)]
    if viewer is not None:
        update = cast(Descriptor, ground.game.message("Update").DESCRIPTOR)
        view = wire.public_view(step.game), wire.own_view(step.game, viewer)
        faults += concatenation_faults(update, *view, hidden)
    for fault in faults:
        ground.findings.add("CONCATENATION", f"viewer {viewer}: {fault}")


def _own_fields(ground: Ground) -> frozenset[str]:
    """Fields that may never be public; what comments say is not served, so `Update`'s own ones are named here."""
    package = ground.game.service.file.package
    return own_fields(served(ground.game)) | {f"{package}.Update.legal", f"{package}.Update.templates"}
