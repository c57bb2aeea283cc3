"""Every kind of tampering is refused, with the entry and a code. Who tampers knows the format, and redoes the chain."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest

from services.corsari.cards import NAMES
from services.kit.export import Export
from services.kit.game import load_game
from services.kit.rules import Seat
from services.kit.verify import Tampered, verify
from tests.verify.recording import Recording
from tests.verify.tampering import (
    chained,
    changed,
    doubled,
    other_seats,
    refit,
    renumbered,
    rewritten,
    swapped,
    with_data,
    with_match,
    without,
)
from tortuga.play.v1 import match_pb2, play_pb2

GAME = load_game("corsari")


@cache
def recorded() -> Recording:
    """Three seats, one of which contributes too late and one gives up."""
    recording = Recording(GAME, 3, "tampering/4")
    recording.begin(silent=[2])
    recording.play(12)
    recording.kit(play_pb2.KIT_KIND_RESIGN, Seat(0))
    recording.play()
    return recording


@cache
def true_record() -> Export:
    return recorded().export()


def revision_of(text: str, behind: int = 0) -> int:
    """The first entry behind *behind* whose text begins with *text*."""
    return next(
        step.revision for step in recorded().steps if step.revision > behind and step.entry.text.startswith(text)
    )


def other_outcome(export: Export) -> Export:
    outcome = match_pb2.Outcome()
    assert export.outcome is not None
    outcome.CopyFrom(export.outcome)
    outcome.places[0].points += 1
    return export._replace(outcome=outcome)


DRAW = revision_of("draw")
DISCARD = revision_of("discard")
BEGIN = revision_of("@begin")
CONTRIBUTE = revision_of("@contribute")
RESIGN = revision_of("@resign")
TIMEOUT = revision_of("@timeout")
DEALT = next(step.revision for step in recorded().steps if step.revision > BEGIN and step.entry.addresses)
LAST = len(true_record().entries)
SEATS = {step.revision: step.entry.seat for step in recorded().steps}
TEXTS = {step.revision: step.entry.text for step in recorded().steps}
TIMES = {step.revision: step.entry.time_ms for step in recorded().steps}
LATER = TIMES[LAST] + 1


class Case(NamedTuple):
    """One way to tamper, and how it is refused."""

    name: str
    tamper: Callable[[Export], Export]
    revision: int
    what: str


CASES = [
    # The match itself.
    Case("seed", lambda e: e._replace(seed=bytes(32)), 0, "COMMITMENT_DIFFERS"),
    Case("commitment", lambda e: with_match(e, commitment=bytes(32)), 0, "COMMITMENT_DIFFERS"),
    Case("match id", lambda e: with_match(e, match_id="other"), 0, "COMMITMENT_DIFFERS"),
    Case("options", lambda e: with_match(e, options=b"\x58\x03"), 0, "ROOT_DIFFERS"),
    Case("seats", other_seats, 0, "ROOT_DIFFERS"),
    Case("time of making", lambda e: with_match(e, created_ms=e.match.created_ms - 1), 0, "ROOT_DIFFERS"),
    Case("rules version", lambda e: with_match(e, rules_version="0"), 0, "RULES_UNKNOWN"),
    Case("game", lambda e: with_match(e, game="another"), 0, "GAME_DIFFERS"),
    Case("head(0)", lambda e: e._replace(head=bytes(32)), 0, "ROOT_DIFFERS"),
    Case("state", lambda e: e._replace(state=match_pb2.MATCH_STATE_ABORTED), LAST, "STATE_DIFFERS"),
    Case("outcome", other_outcome, LAST, "OUTCOME_DIFFERS"),
    Case("no outcome", lambda e: e._replace(outcome=None), LAST, "OUTCOME_DIFFERS"),
    # Entries, with the chain left as it was.
    Case("data", lambda e: changed(e, DRAW, data=e.entries[DISCARD - 1].data), DRAW, "HEAD_DIFFERS"),
    Case("blind", lambda e: changed(e, DRAW, blind=bytes(32)), DRAW, "HEAD_DIFFERS"),
    Case("head", lambda e: changed(e, DRAW, head=bytes(32)), DRAW, "HEAD_DIFFERS"),
    Case("last head", lambda e: changed(e, LAST, head=bytes(32)), LAST, "HEAD_DIFFERS"),
    Case("sealed after all", lambda e: changed(e, DRAW, data=b"", leaf=bytes(32)), DRAW, "HEAD_DIFFERS"),
    Case("fingerprint", lambda e: changed(e, DRAW, fingerprint=bytes(32)), DRAW, "FINGERPRINT_DIFFERS"),
    Case("no fingerprint", lambda e: changed(e, BEGIN, fingerprint=b""), BEGIN, "FINGERPRINT_DIFFERS"),
    Case("fingerprint of nothing", lambda e: changed(e, 1, fingerprint=bytes(32)), 1, "FINGERPRINT_DIFFERS"),
    Case("removed", lambda e: e._replace(entries=without(e, DRAW)), DRAW, "HEAD_DIFFERS"),
    Case("last removed", lambda e: e._replace(entries=without(e, LAST)), LAST - 1, "STATE_DIFFERS"),
    Case("all removed", lambda e: e._replace(entries=[]), 0, "STATE_DIFFERS"),
    Case("reordered", lambda e: e._replace(entries=swapped(e, DRAW)), DRAW, "HEAD_DIFFERS"),
    Case("inserted", lambda e: e._replace(entries=doubled(e, DRAW)), DRAW + 1, "HEAD_DIFFERS"),
    Case("appended", lambda e: e._replace(entries=[*e.entries, e.entries[-1]]), LAST + 1, "HEAD_DIFFERS"),
    # Entries, with the chain redone.
    Case("match's options, refitted", lambda e: refit(e, options=b"\x58\x15"), BEGIN, "ENTRY_REFUSED OPTION_RANGE"),
    Case("removed, chained", lambda e: chained(e, without(e, DRAW)), DRAW, "REVISION_DIFFERS"),
    Case("removed, renumbered", lambda e: renumbered(e, without(e, DRAW)), DRAW, "ENTRY_REFUSED PHASE"),
    Case("reordered, renumbered", lambda e: renumbered(e, swapped(e, DRAW)), DRAW, "ENTRY_REFUSED PHASE"),
    Case("inserted, renumbered", lambda e: renumbered(e, doubled(e, DRAW)), DRAW + 1, "ACTION_ID_REUSED"),
    Case("of another match", lambda e: rewritten(e, DRAW, match_id="other"), DRAW, "MATCH_DIFFERS"),
    Case("not JSON", lambda e: with_data(e, DRAW, b"[1,2"), DRAW, "ENTRY_UNREADABLE"),
    Case("not seven fields", lambda e: with_data(e, DRAW, b"[1,2]"), DRAW, "ENTRY_UNREADABLE"),
    Case("not an array", lambda e: with_data(e, DRAW, b"17"), DRAW, "ENTRY_UNREADABLE"),
    Case("nested deep", lambda e: with_data(e, DRAW, b"[" * 100_000), DRAW, "ENTRY_UNREADABLE"),
    Case("spaces", lambda e: with_data(e, DRAW, e.entries[DRAW - 1].data + b" "), DRAW, "ENTRY_UNREADABLE"),
    Case("half a letter", lambda e: rewritten(e, DRAW, action_id="\ud800"), DRAW, "ENTRY_UNREADABLE"),
    Case("seat as truth", lambda e: rewritten(e, DRAW, seat=True), DRAW, "ENTRY_UNREADABLE"),
    Case("seat below 0", lambda e: rewritten(e, DRAW, seat=-1), DRAW, "ENTRY_UNREADABLE"),
    Case("seat too high", lambda e: rewritten(e, DRAW, seat=3), DRAW, "ENTRY_UNREADABLE"),
    Case("time with a fraction", lambda e: rewritten(e, DRAW, time_ms=LATER + 0.5), DRAW, "ENTRY_UNREADABLE"),
    Case("time gone back", lambda e: rewritten(e, DRAW, time_ms=TIMES[BEGIN] - 1), DRAW, "TIME_WENT_BACK"),
    Case("before the match", lambda e: rewritten(e, 1, time_ms=e.match.created_ms - 1), 1, "TIME_WENT_BACK"),
    Case("time too far ahead", lambda e: rewritten(e, DRAW, time_ms=LATER), DRAW + 1, "TIME_WENT_BACK"),
    Case("no such action", lambda e: rewritten(e, DRAW, text="draw blank"), DRAW, "ACTION_UNREADABLE"),
    Case("no such kit action", lambda e: rewritten(e, DRAW, text="@cheat"), DRAW, "ACTION_UNREADABLE"),
    Case("illegal action", lambda e: rewritten(e, DISCARD, text="draw stock"), DISCARD, "ENTRY_REFUSED PHASE"),
    Case(
        "illegal card",
        lambda e: rewritten(e, DISCARD, text=foreign_discard()),
        DISCARD,
        "ENTRY_REFUSED CARD_NOT_IN_HAND",
    ),
    Case(
        "out of turn",
        lambda e: rewritten(e, DRAW, seat=((SEATS[DRAW] or 0) + 1) % 3),
        DRAW,
        "ENTRY_REFUSED NOT_YOUR_TURN",
    ),
    Case("another legal action", lambda e: rewritten(e, DRAW, text=other_draw()), DRAW, "FINGERPRINT_DIFFERS"),
    Case("by nobody", lambda e: rewritten(e, DRAW, seat=None), DRAW, "NO_ACTOR"),
    Case("wrong address", lambda e: rewritten(e, DEALT, addresses=["deal/7"]), DEALT, "ENTRY_DIFFERS"),
    Case("no address", lambda e: rewritten(e, DEALT, addresses=[]), DEALT, "ENTRY_DIFFERS"),
    Case("address too many", lambda e: rewritten(e, DRAW, addresses=["deal/7"]), DRAW, "ENTRY_DIFFERS"),
    Case("address used before", lambda e: rewritten(e, DEALT, addresses=["deal/1"]), DEALT, "ADDRESS_REUSED"),
    Case("address used twice", lambda e: rewritten(e, DEALT, addresses=["a", "a"]), DEALT, "ADDRESS_REUSED"),
    Case(
        "action id used before",
        lambda e: rewritten(e, RESIGN, action_id=f"KIT_KIND_CONTRIBUTE-{SEATS[RESIGN]}"),
        RESIGN,
        "ACTION_ID_REUSED",
    ),
    # Kit actions: who, when.
    Case(
        "contribution",
        lambda e: rewritten(e, CONTRIBUTE, text=f"@contribute {'5a' * 32}"),
        BEGIN,
        "FINGERPRINT_DIFFERS",
    ),
    Case(
        "short contribution",
        lambda e: rewritten(e, CONTRIBUTE, text="@contribute 5a"),
        CONTRIBUTE,
        "ENTRY_REFUSED CONTRIBUTION",
    ),
    Case("contributed by the system", lambda e: rewritten(e, CONTRIBUTE, seat=None), CONTRIBUTE, "SEAT_MISSING"),
    Case("begun by a seat", lambda e: rewritten(e, BEGIN, seat=1), BEGIN, "SYSTEM_ONLY"),
    Case("begun too early", lambda e: rewritten(e, BEGIN, time_ms=TIMES[BEGIN - 1]), BEGIN, "NOT_DUE"),
    Case("begun twice", lambda e: rewritten(e, DRAW, seat=None, text="@begin"), DRAW, "ENTRY_REFUSED ALREADY_BEGUN"),
    Case("came from nowhere", lambda e: rewritten(e, 1, text="@return 3"), 1, "SEAT_UNKNOWN"),
    Case("came from below", lambda e: rewritten(e, 1, text="@return -1"), 1, "SEAT_UNKNOWN"),
    Case("came twice", lambda e: rewritten(e, 2, text=TEXTS[1], action_id="x"), 2, "ENTRY_REFUSED ALREADY_PRESENT"),
    Case("spelled otherwise", lambda e: rewritten(e, 1, text=TEXTS[1].replace(" ", " 0")), 1, "ENTRY_DIFFERS"),
    Case(
        "silence of one who plays",
        lambda e: rewritten(e, DRAW, seat=None, text=f"@timeout {SEATS[DRAW]}"),
        DRAW,
        "NOT_DUE",
    ),
    Case("time-out by a seat", lambda e: rewritten(e, TIMEOUT, seat=1), TIMEOUT, "SYSTEM_ONLY"),
    Case("resigned seat plays", lambda e: rewritten(e, TIMEOUT, seat=0, text="draw stock"), TIMEOUT, "RESIGNED"),
    Case("aborted early", lambda e: rewritten(e, 2, text="@abort START_LIMIT"), 2, "NOT_DUE"),
    Case("aborted in play", lambda e: rewritten(e, DRAW, text="@abort PLAYER"), DRAW, "ENTRY_REFUSED ALREADY_BEGUN"),
]


def foreign_discard() -> str:
    """The discard of a card that another seat holds."""
    before = recorded().steps[DISCARD - 2]
    assert before.game is not None
    other = next(hand for seat, hand in enumerate(before.game.hands) if seat != SEATS[DISCARD])
    return f"discard {NAMES[other[0]]}"


def other_draw() -> str:
    return "draw stock" if TEXTS[DRAW] != "draw stock" else "draw dock"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_tampering_is_refused(case: Case) -> None:
    """The first entry that does not fit is named, 0 being the match, and what is wrong with it."""
    with pytest.raises(Tampered) as raised:
        verify(case.tamper(true_record()), GAME)
    assert (raised.value.revision, raised.value.what) == (case.revision, case.what)


def test_untampered_it_is_full() -> None:
    """The record that all cases begin with holds, and redoing its chain changes nothing."""
    export = true_record()
    assert verify(export, GAME).full
    assert chained(export, export.entries) == export


def test_an_entry_of_another_match_does_not_fit() -> None:
    """Not even one with the same revision, actor and action, opened by its own blind."""
    other = Recording(GAME, 3, "tampering/other")
    other.begin(silent=[2])
    other.play()
    entries = list(true_record().entries)
    entries[0] = other.export().entries[0]
    with pytest.raises(Tampered, match="entry 1: HEAD_DIFFERS"):
        verify(true_record()._replace(entries=entries), GAME)
    with pytest.raises(Tampered, match="entry 1: MATCH_DIFFERS"):
        verify(chained(true_record(), entries), GAME)


def test_every_single_byte_of_the_chain_counts() -> None:
    """One flipped bit in any entry's bytes, blind or head is refused at that entry."""
    export = true_record()
    for revision, entry in enumerate(export.entries, 1):
        for part in ("data", "blind", "head"):
            value = bytearray(getattr(entry, part))
            value[recorded().luck.randrange(len(value))] ^= 1
            with pytest.raises(Tampered, match=f"entry {revision}: HEAD_DIFFERS"):
                verify(changed(export, revision, **{part: bytes(value)}), GAME)
