"""The judge: from one step to the next, purely. The same code judges a new action and folds the log.

Chance comes from the match's own key; a refused action leaves no trace, since everything happens on a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from services.kit import chain
from services.kit.chance import Chance
from services.kit.entry import KIT_MARK, Entry, KitStep, parse_kit, valid_contribution
from services.kit.errors import Malformed, NotServed, Refusal
from services.kit.game import AnyGame
from services.kit.keyed import keyed
from services.kit.rules import IllegalAction, Seat
from services.kit.step import ABORTED, ENDED, GATHERING, RUNNING, Standing, StatusLine, Step
from tortuga.play.v1 import match_pb2, play_pb2

_NO_SPENT: frozenset[str] = frozenset()


class Divergence(RuntimeError):
    """The log does not replay: a fault of the rules or of the store. Names the revision, never content."""

    def __init__(self, match_id: str, revision: int, what: str) -> None:
        super().__init__(f"{match_id} revision {revision}: {what}")
        self.revision = revision
        self.what = what


class Judge:
    """Judges one match. Holds its fixed part and secrets; every position is in the steps."""

    def __init__(self, game: AnyGame, match: match_pb2.Match, seed: bytes, blind_key: bytes) -> None:
        self.game = game
        self.match = match
        self.seats = len(match.seats)
        self.seed = seed
        self._blind = keyed(blind_key)
        self._match_id = match.match_id

    def before_first(self) -> Step:
        """The position before the first entry: seats fixed, nobody has come. Bots need not come."""
        present = tuple(bool(seat.bot) for seat in self.match.seats)
        contributions = tuple(b"" if seat.bot else None for seat in self.match.seats)
        standing = Standing(GATHERING, present, contributions)
        return Step(
            entry=Entry(self._match_id, 0, None, "", "", (), self.match.created_ms),
            data=b"",
            head=chain.root(self.match),
            standing=standing,
            game=None,
            asked=(),
            events=(),
            kit=None,
            before=(0,) * (self.seats + 1),
            seqs=(0,) * (self.seats + 1),
            times=(self.match.created_ms,) * (self.seats + 1),
            spent=_NO_SPENT,
            status=StatusLine(GATHERING, (), standing.away),
            status_changed=False,
        )

    def blinding(self, revision: int) -> bytes:
        """blind(r) of the chain."""
        return self._blind(revision.to_bytes(8, "big"))

    def judge_action(self, last: Step, seat: Seat, action: Any, action_id: str, now_ms: int) -> Step:
        """The step after *seat*'s game action.

        Raises:
            IllegalAction: the rules' reason.
        """
        state, chance = self._running(last)
        events = state.apply(seat, action, chance)
        return self._step(last, seat, str(action), action_id, now_ms, last.standing, state, events, chance)

    def judge_kit(self, last: Step, kit: KitStep, actor: Seat | None, action_id: str, now_ms: int) -> Step:
        """The step after a kit action.

        Raises:
            Refusal, Malformed, NotServed: why not.
        """
        now_ms = max(now_ms, last.entry.time_ms)
        standing, state, events, chance = _KIT[kit.kind](self, last, kit, now_ms)
        return self._step(last, actor, str(kit), action_id, now_ms, standing, state, events, chance, kit)

    def replay(self, last: Step, revision: int, head: bytes, data: bytes) -> Step:
        """The step that a stored entry made, checked against what was stored.

        Raises:
            Divergence: it does not follow from *last*, or comes out differently.
        """
        try:
            entry = Entry.read(data)
            if entry.text.startswith(KIT_MARK):
                kit = parse_kit(entry.text, entry.seat)
                step = self.judge_kit(last, kit, entry.seat, entry.action_id, entry.time_ms)
            elif entry.seat is None:
                raise Divergence(self._match_id, revision, "NO_ACTOR")
            else:
                action = self.game.rules.parse(entry.text)
                step = self.judge_action(last, entry.seat, action, entry.action_id, entry.time_ms)
        except Divergence:
            raise
        except Exception as error:
            raise Divergence(self._match_id, revision, f"ENTRY_REFUSED {type(error).__name__}") from None
        if step.entry != entry or step.data != data:
            raise Divergence(self._match_id, revision, "ENTRY_DIFFERS")
        if step.revision != revision or step.head != head:
            raise Divergence(self._match_id, revision, "HEAD_DIFFERS")
        return step

    def _running(self, last: Step) -> tuple[Any, Chance]:
        """A copy of the game's state to play on, and the chance for one entry."""
        if last.game is None or last.standing.state != RUNNING:
            raise Refusal("GAME_OVER" if last.standing.over else "NOT_STARTED")
        return last.game.copy(), Chance(last.standing.key, last.spent)

    def _step(
        self,
        last: Step,
        actor: Seat | None,
        text: str,
        action_id: str,
        now_ms: int,
        standing: Standing,
        state: Any | None,
        events: Sequence[Any],
        chance: Chance | None,
        kit: KitStep | None = None,
    ) -> Step:
        used = tuple(chance.used) if chance is not None and chance.used else ()
        time_ms = now_ms if now_ms > last.entry.time_ms else last.entry.time_ms
        entry = Entry(self._match_id, last.entry.revision + 1, actor, text, action_id, used, time_ms)
        data = entry.data()
        head = chain.next_head(last.head, chain.leaf(self.blinding(entry.revision), data))
        if state is not None and standing.state == RUNNING and (outcome := state.outcome()) is not None:
            standing = replace(standing, state=ENDED, outcome=outcome)
        running = state is not None and standing.state == RUNNING
        asked = tuple(state.asked()) if running and state is not None else ()
        publicly = tuple(state.asked_publicly()) if running and state is not None else ()
        status = last.status
        if standing is not last.standing or publicly != status.asked:
            status = StatusLine(standing.state, publicly, standing.away)
        status_changed = status != last.status
        seqs = _shown_to(last.seqs, events, kit is not None or status_changed)
        return Step(
            entry=entry,
            data=data,
            head=head,
            standing=standing,
            game=state,
            asked=asked,
            events=events,
            kit=kit,
            before=last.seqs,
            seqs=seqs,
            times=_shown_when(last, seqs, time_ms),
            spent=last.spent.union(used) if used else last.spent,
            status=status,
            status_changed=status_changed,
        )

    # Kit actions: (standing, game state, events, chance) after each.

    def _contribute(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        seat = _seat_of(kit)
        standing = last.standing
        if not valid_contribution(kit.contribution):
            raise Malformed("CONTRIBUTION", bytes=len(kit.contribution))
        if standing.state != GATHERING:
            raise Refusal("ALREADY_BEGUN")
        if standing.contributions[seat] is not None:
            raise Refusal("ALREADY_CONTRIBUTED")
        parts = (*standing.contributions[:seat], kit.contribution, *standing.contributions[seat + 1 :])
        return replace(standing, contributions=parts).come(seat, now_ms), None, (), None

    def _return(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        seat = _seat_of(kit)
        if last.standing.state != GATHERING or last.standing.present[seat]:
            raise Refusal("ALREADY_PRESENT")
        return last.standing.come(seat, now_ms), None, (), None

    def _begin(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        if last.standing.state != GATHERING:
            raise Refusal("ALREADY_BEGUN")
        contributions = [part or b"" for part in last.standing.contributions]
        key = chain.match_key(self.seed, contributions)
        options = self.game.wire.read_options(self.match.options)
        chance = Chance(key)
        state, events = self.game.rules.start(options, self.seats, chance, self.match.rules_version)
        return replace(last.standing, state=RUNNING, key=key), state, events, chance

    def _abort(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        if last.standing.over:
            raise Refusal("GAME_OVER")
        if last.standing.state != GATHERING:
            raise Refusal("ALREADY_BEGUN")
        return replace(last.standing, state=ABORTED, abort_reason=kit.reason), None, (), None

    def _resign(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        seat = _seat_of(kit)
        state, chance = self._running(last)
        if seat in last.standing.resigned:
            raise Refusal("ALREADY_RESIGNED")
        events = state.resigned(seat, chance)
        return replace(last.standing, resigned=last.standing.resigned | {seat}), state, events, chance

    def _timeout(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        seat = _seat_of(kit)
        state, chance = self._running(last)
        if not last.decision(seat):
            raise IllegalAction("NOT_ASKED")
        return last.standing, state, state.timeout(seat, chance), chance

    def _not_served(self, last: Step, kit: KitStep, now_ms: int) -> _Turned:
        raise NotServed("NOT_SERVED")


_Turned = tuple[Standing, Any | None, Sequence[Any], Chance | None]

_KIT = dict.fromkeys(play_pb2.KitKind.values(), Judge._not_served) | {
    play_pb2.KIT_KIND_CONTRIBUTE: Judge._contribute,
    play_pb2.KIT_KIND_RESIGN: Judge._resign,
    play_pb2.KIT_KIND_ABORT: Judge._abort,
    play_pb2.KIT_KIND_BEGIN: Judge._begin,
    play_pb2.KIT_KIND_TIMEOUT: Judge._timeout,
    play_pb2.KIT_KIND_RETURN: Judge._return,
}


def _seat_of(kit: KitStep) -> Seat:
    if kit.seat is None:
        raise Malformed("SEAT_MISSING")
    return kit.seat


def _shown_to(seqs: tuple[int, ...], events: Sequence[Any], everyone: bool) -> tuple[int, ...]:
    """Count the update for every viewer that the events, the kit action or the status show something."""
    if everyone or any(event.public() is not None for event in events):
        return tuple([seq + 1 for seq in seqs])
    return (
        seqs[0],
        *(seq + any(event.own(Seat(seat)) is not None for event in events) for seat, seq in enumerate(seqs[1:])),
    )


def _shown_when(last: Step, seqs: tuple[int, ...], time_ms: int) -> tuple[int, ...]:
    """Per viewer the time of its newest update: an entry that shows it nothing leaves even that as it was."""
    if seqs[0] != last.seqs[0]:  # what spectators see, everyone does
        return (time_ms,) * len(seqs)
    return tuple([time_ms if new != old else time for new, old, time in zip(seqs, last.seqs, last.times, strict=True)])
