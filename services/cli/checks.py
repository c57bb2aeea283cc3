"""What `tortuga simulate --check` looks at after every action: six kinds of promise that a game's rules make.

Every kind counts how often it was looked at, so that a check that never runs is seen; every broken promise is a
`Violation` with a code, the match and the action's number, which with the run's seed bring it back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from traceback import format_exc
from typing import Any, NamedTuple

from services.kit.chance import Chance
from services.kit.game import AnyGame
from services.kit.rules import IllegalAction, InvalidAction, Seat, Viewer, shown

KINDS = ("dump", "invariants", "text", "view", "refusal", "redeal")
"""Dump, load and copies; the dossier's invariants; text forms; events applied to the first view; refusals; redeals."""

_REASON = re.compile(r"[A-Z][A-Z0-9_]*")
_REMEMBERED = 64
"""Actions kept to be tried again where they are not legal."""


class Violation(NamedTuple):
    """A broken promise: its kind (one of KINDS, or "play"), a code, and where: match and action, both from 1."""

    kind: str
    code: str
    match: int
    action: int


class Moment(NamedTuple):
    """What happened last: the position before and after, who did what, and chance for a trial of what comes next."""

    before: Any
    after: Any
    seat: Seat
    action: Any
    events: Sequence[Any]
    chance: Callable[[], Chance]


class Checker:
    """Looks at every match of one run. One match at a time: `begin`, then `look` after each action."""

    def __init__(self, game: AnyGame, seats: int, luck: Random) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.violations: list[Violation] = []
        self.trace = ""
        """Where the first exception came from that is no refusal; empty if there was none."""
        self._rules = game.rules
        self._wire = game.wire
        self._luck = luck
        self._seats = [Seat(seat) for seat in range(seats)]
        self._viewers: list[Viewer] = [None, *self._seats]
        self._views: dict[Viewer, Any] = {}
        self._remembered: list[tuple[Any, str]] = []
        self._dump = b""
        self._match = 0
        self._action = 0
        self._checks = (
            self._check_dump,
            self._check_invariants,
            self._check_text,
            self._check_views,
            self._check_refusals,
            self._check_redeal,
        )

    def begin(self, match: int, state: Any) -> None:
        """A match has started: *state* is its first position, and each viewer's first view comes from it."""
        self._match, self._action = match, 0
        self._views = {viewer: state.view(viewer) for viewer in self._viewers}
        self._dump = state.dump()
        self._remembered.clear()

    def look(self, moment: Moment) -> None:
        """Check everything after one action. A check that raises has found something, too."""
        self._action += 1
        for kind, check in zip(KINDS, self._checks, strict=True):
            try:
                check(moment)
            except Exception as fault:  # whatever the rules raise is what is looked for
                self.report(kind, type(fault).__name__)
                self.trace = self.trace or format_exc()

    def report(self, kind: str, code: str) -> None:
        """Note a broken promise at the present place."""
        self.violations.append(Violation(kind, code, self._match, self._action))

    def _check_invariants(self, moment: Moment) -> None:
        """The dossier's invariants hold, and whoever is asked has something to do."""
        self.counts["invariants"] += 1
        state = moment.after
        for code in self._rules.violations(state):
            self.report("invariants", code)
        asked = [seat for seat, _ in state.asked()]
        if asked != sorted(set(asked)):
            self.report("invariants", "ASKED_ORDER")
        if (state.outcome() is None) != bool(asked):
            self.report("invariants", "ASKED_AFTER_THE_END" if asked else "NOBODY_ASKED")
        if any(not state.legal(seat) for seat in asked):
            self.report("invariants", "NOTHING_LEGAL")

    def _check_text(self, moment: Moment) -> None:
        """Every text form reads back to the same action: of the action played, and of all that are legal now."""
        self.counts["text"] += 1
        legal = [action for seat, _ in moment.after.asked() for action in moment.after.legal(seat).actions]
        for action in (moment.action, *legal):
            text = str(action)
            if not text or text.startswith("@") or not text.isprintable():
                self.report("text", "FORM")
            if self._parse(text) != action:
                self.report("text", "READS_BACK")
        self._remember(moment.action)
        if legal:
            self._remember(self._luck.choice(legal))

    def _check_dump(self, moment: Moment) -> None:
        """A dump reads back to the same position; and playing on a copy left the position it was copied from."""
        self.counts["dump"] += 1
        after = moment.after
        if moment.before.dump() != self._dump:
            self.report("dump", "COPY_SHARES")
        self._dump = after.dump()
        loaded = self._rules.load(self._dump)
        if loaded.dump() != self._dump:
            self.report("dump", "READS_BACK")
        if any(loaded.view(viewer) != after.view(viewer) for viewer in self._viewers):
            self.report("dump", "VIEW")
        if (loaded.asked(), loaded.outcome()) != (after.asked(), after.outcome()):
            self.report("dump", "ASKED")
        if any(loaded.legal(seat) != after.legal(seat) for seat in self._seats):
            self.report("dump", "LEGAL")

    def _check_views(self, moment: Moment) -> None:
        """The events that a viewer was shown, applied to what it knew, give what it knows."""
        for viewer in self._viewers:
            self.counts["view"] += 1
            view = self._rules.follow(self._views[viewer], shown(moment.events, viewer), viewer)
            now = moment.after.view(viewer)
            if view != now:
                self.report("view", "FOLLOW")
            self._views[viewer] = now

    def _check_refusals(self, moment: Moment) -> None:
        """What is legal applies; what is not is refused by a code, and the position's bytes stay as they were."""
        state = moment.after
        for seat, action in self._attempts(moment):
            legal = state.legal(seat)
            reason = self._answer(state, seat, action, moment.chance)
            if reason is None:
                if not legal or not (legal.templates or action in legal.actions):
                    self.report("refusal", "ACCEPTED")
                continue
            self.counts["refusal"] += 1
            if action in legal.actions:
                self.report("refusal", "LEGAL_REFUSED")
            if state.dump() != self._dump:
                self.report("refusal", "BYTES_CHANGED")

    def _check_redeal(self, moment: Moment) -> None:
        """A viewer cannot tell a redealt position from the real one: same bytes, same question, same answers."""
        self.counts["redeal"] += 1
        state = moment.after
        viewer = self._luck.choice(self._viewers)  # a fixed rotation could keep step with the turns
        other = self._rules.redeal(state, viewer, self._luck)
        for code in self._rules.violations(other):
            self.report("redeal", code)
        if state.dump() != self._dump:
            self.report("redeal", "BYTES_CHANGED")
        if self._known(state, viewer) != self._known(other, viewer):
            self.report("redeal", "BYTES")
        if other.view(viewer) != state.view(viewer):
            self.report("redeal", "VIEW")
        if viewer is not None and self._remembered:
            action, _ = self._luck.choice(self._remembered)
            answers = {self._answer(each, viewer, action, moment.chance) for each in (state, other)}
            if len(answers) > 1:
                self.report("redeal", "ANSWER")

    def _known(self, state: Any, viewer: Viewer) -> tuple[object, ...]:
        """Everything that reaches *viewer* of a position, as it would travel."""
        public = (self._wire.public_view(state), state.asked_publicly(), state.outcome())
        if viewer is None:
            return public
        decisions = [decision for seat, decision in state.asked() if seat == viewer]
        return (*public, self._wire.own_view(state, viewer), self._wire.legal(state, viewer), decisions)

    def _answer(self, state: Any, seat: Seat, action: Any, chance: Callable[[], Chance]) -> tuple[str, ...] | None:
        """How the rules answer *action*, tried on a copy: the refusal's reason and parameters; None if it is legal."""
        try:
            state.copy().apply(seat, action, chance())
        except IllegalAction as refusal:
            if not _REASON.fullmatch(refusal.reason):
                self.report("refusal", "REASON")
            return (refusal.reason, *(f"{name}={value}" for name, value in sorted(refusal.params.items())))
        except Exception as fault:  # whatever the rules raise besides is what is looked for
            self.report("refusal", type(fault).__name__)
            self.trace = self.trace or format_exc()
            return (type(fault).__name__,)
        return None

    def _attempts(self, moment: Moment) -> Iterator[tuple[Seat, Any]]:
        """Actions to be answered: a legal one; and, probably illegal, the last again, an old and a misspelt one."""
        luck = self._luck
        for seat, _ in moment.after.asked()[:1]:
            if actions := moment.after.legal(seat).actions:
                yield seat, luck.choice(actions)
        yield moment.seat, moment.action
        old, text = luck.choice(self._remembered)
        yield luck.choice(self._seats), old
        if (misspelt := self._parse(self._misspell(text))) is not None:
            yield luck.choice(self._seats), misspelt

    def _misspell(self, text: str) -> str:
        """*text* with one piece exchanged for a piece of another action's text."""
        pieces = re.split(r"(\W+)", text)
        other = re.split(r"(\W+)", self._luck.choice(self._remembered)[1])
        pieces[self._luck.randrange(len(pieces))] = self._luck.choice(other)
        return "".join(pieces)

    def _parse(self, text: str) -> Any:
        """The action with this text form; None if there is none."""
        try:
            return self._rules.parse(text)
        except InvalidAction:
            return None
        except Exception as fault:  # whatever the rules raise besides is what is looked for
            self.report("text", type(fault).__name__)
            self.trace = self.trace or format_exc()
            return None

    def _remember(self, action: Any) -> None:
        kept = self._remembered
        if len(kept) < _REMEMBERED:
            kept.append((action, str(action)))
        else:
            kept[self._luck.randrange(_REMEMBERED)] = (action, str(action))
