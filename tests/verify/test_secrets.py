"""Nothing hidden leaves the platform before its time: every byte that clients, logs and HTTP gave is searched."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from services.corsari.cards import without
from services.corsari.phases import Phase
from services.kit.entry import KIT_MARK
from services.kit.rules import Viewer, shown
from services.kit.step import ENDED, Step
from tests.verify.conftest import Platform
from tests.verify.tap import Tap
from tests.verify.traces import betrayed, search
from tests.verify.two_matches import GAME, Found, Given, play_both

NEVER = ("blind key", "key")
"""What is not shown after the end either."""


@pytest.fixture(scope="module")
def given(platform: Platform) -> Given:
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    return asyncio.run(play_both(platform, seed))


def test_there_was_something_to_search(given: Given) -> None:
    """Logs, metrics, refusals and updates were there, and so were the match's later secrets."""
    for places in (given.meanwhile, given.afterwards):
        names = " ".join(name for name, _ in places)
        for name in (".log", "gateway.db", "/metrics", "/healthz", "refusal by Act", "refusal by Replay", "entries"):
            assert name in names
        text = b"".join(data for _, data in places)
        for content in (b"tortuga_actions_total", b"STALE_DECISION", b"MATCH_RUNNING", given.match_id.encode()):
            assert content in text
    assert len(given.taps) == 4
    for viewer in given.taps:
        assert len(list(updates(given, viewer))) > 10
        assert list(search({"commitment": given.commitment}, [("line", b"|".join(given.taps[viewer].messages()))]))
    refused = {message.refused.reason for viewer in given.taps for message, _ in updates(given, viewer)}
    assert refused >= {"STALE_DECISION", "SYSTEM_ONLY", "PHASE"}
    assert any(found.startswith("seed as hex") for found in search(given.secrets, given.afterwards))
    assert any(found.startswith("blind(3) as hex") for found in search(given.secrets, given.afterwards))


def test_secrets_of_live_matches_are_nowhere(given: Given) -> None:
    """Seed, keys and blinds: in no log, file, metric, HTTP answer, refusal or export, on no line, however spelled."""
    assert list(search(given.secrets, given.meanwhile)) == []
    assert list(search(given.live_secrets, [*given.meanwhile, *given.afterwards])) == []
    assert list(search(given.live_secrets, lines(given))) == []


def lines(given: Given) -> Iterator[Found]:
    """All that was received on every line: the bytes as they came, and the messages in them, put together again."""
    for tap in [*given.taps.values(), *given.other_taps]:
        yield "line", b"|".join(tap.received)
        yield "messages", b"|".join(tap.messages())


def test_secrets_of_an_ended_match_come_with_its_end(given: Given) -> None:
    """On its players' and spectator's lines the seed is in the last update and in nothing before; keys never are."""
    for viewer, tap in given.taps.items():
        messages = list(tap.messages())
        [place] = [place for place, data in enumerate(messages) if given.secrets["seed"] in data]
        response: Any = GAME.message("PlayResponse").FromString(messages[place])
        assert response.status.state == ENDED
        assert response.header.seq == given.steps[-1].seq(viewer)
        before = b"|".join(messages[:place])
        assert list(search(given.secrets, [("before", before)])) == []
        assert list(search(given.secrets, [("last", messages[place])])) == ["seed as raw in last"]
    never = {name: given.secrets[name] for name in NEVER}
    assert list(search(never, [*lines(given), *given.afterwards])) == []


def test_logs_hold_no_action(given: Given) -> None:
    """Neither text forms nor views: lines have ids, codes and counts."""
    texts = {text for text in given.texts if not text.startswith(KIT_MARK)}
    assert len(texts) > 4
    for name, data in [*given.meanwhile, *given.afterwards]:
        if name.endswith(".log"):
            said = [value for line in data.decode().splitlines() for value in _texts(json.loads(line))]
            assert [text for text in texts if any(text in value for value in said)] == []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    else:
        yield str(value)


def updates(given: Given, viewer: Viewer) -> Iterator[tuple[Any, bytes]]:
    """All that a viewer of the match that ended was sent about it, in order, and the bytes of each."""
    tap: Tap = given.taps[viewer]
    for data in tap.messages():
        message: Any = GAME.message("PlayResponse")()
        try:
            message.MergeFromString(data)
        except ValueError:
            continue
        if message.header.match_id == given.match_id:
            yield message, data


def steps_of(given: Given, viewer: Viewer) -> dict[int, Step]:
    """The steps that the viewer was shown, by the seq of the update."""
    index = 0 if viewer is None else viewer + 1
    return {step.seq(viewer): step for step in given.steps if step.shows(index)}


@pytest.mark.parametrize("viewer", [None, 0, 1, 2], ids=["spectator", "seat 0", "seat 1", "seat 2"])
def test_each_viewer_got_what_it_may_know_and_no_more(given: Given, viewer: Viewer) -> None:
    """Its view, led on by its events, is what the rules grant it in the log's true states; so are the events and
    legal actions that it got; and no message has a field that the contract does not know.
    """
    steps, view = steps_of(given, viewer), None
    seen = 0
    for message, data in updates(given, viewer):
        message.DiscardUnknownFields()
        assert message.ByteSize() == message.FromString(data).ByteSize()
        step = steps.get(message.header.seq)
        if step is None or step.game is None or not message.HasField("update"):
            continue
        seen += 1
        events = GAME.wire.read_events(message.update)
        if message.update.HasField("view"):
            view = GAME.wire.read_view(message.update, viewer)
        else:
            assert list(events) == shown(step.events, viewer)
            view = GAME.rules.follow(view, events, viewer)
        assert view == step.game.view(viewer)
        legal = GAME.wire.read_legal(message.update)
        own = None if viewer is None or step.standing.over else step.game.legal(viewer)
        assert (list(legal.actions), list(legal.templates)) == (
            (list(own.actions), list(own.templates)) if own else ([], [])
        )
    assert seen > 8


@pytest.mark.parametrize("viewer", [None, 0, 1, 2], ids=["spectator", "seat 0", "seat 1", "seat 2"])
def test_no_message_betrays_hidden_cards(given: Given, viewer: Viewer) -> None:
    """No field of any message, known or not, has six cards of another's unseen hand or of the stock in a row."""
    steps, step, looked = steps_of(given, viewer), None, 0
    for message, data in updates(given, viewer):
        step = steps.get(message.header.seq, step)
        if step is None or step.game is None:
            continue
        state: Any = step.game
        hidden = [without(hand, state.known[seat]) for seat, hand in enumerate(state.hands) if seat != viewer]
        hidden.append(state.stock)
        if state.phase is Phase.PARTITION:
            hidden += [split.cards() for split in state.declared if split and split.seat != viewer]
        for cards in hidden:
            assert betrayed(cards, data) == [], f"seq {message.header.seq}"
            looked += len(cards) > 5
    assert looked > 10
