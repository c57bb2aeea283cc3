"""`tortuga replay`: a finished match step by step, each checked before it is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from services.cli import output
from services.cli.lines import clock, date, indented, outcome_line, printable, who
from services.cli.records import CANNOT, DEFAULT_TARGET, GameId, MatchOrFile, Target, Token, obtain
from services.kit.export import BadExport, Export
from services.kit.game import AnyGame
from services.kit.rules import shown
from services.kit.step import ENDED
from services.kit.verify import Checked, Tampered, walk

_INDENT = 28
_ASK = "Enter: next, v: the spectators' view, a: all, q: quit "


def replay(
    source: MatchOrFile,
    game: GameId = "",
    target: Target = DEFAULT_TARGET,
    token: Token = "",
    everything: Annotated[bool, typer.Option("--all", help="Print every step; so does a pipe.")] = False,
) -> None:
    """Show a finished match entry by entry: its text form, who, when, and what everyone saw of it."""
    try:
        export, loaded = obtain(source, game, target, token)
    except BadExport as error:
        output.fail(f"{source}: {error}", CANNOT)
    asking = sys.stdin.isatty() and not everything
    print("\n".join(_head(export)), flush=True)
    try:
        for checked in walk(export, loaded):
            print("\n".join(_told(export, checked)), flush=True)
            asking = asking and _ask(checked)
    except Tampered as error:
        output.fail(f"{source} does not hold: {error}")
    except (_Enough, KeyboardInterrupt):
        return
    print("\n".join(_tail(export, loaded)), flush=True)


class _Enough(Exception):
    """The reader has seen enough."""


def _ask(checked: Checked) -> bool:
    """Wait for the reader; returns whether to ask again. Raises _Enough."""
    while True:
        print(_ASK, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer or answer.strip() == "q":
            raise _Enough
        if answer.strip() != "v":
            return answer.strip() != "a"
        if checked.step is None or checked.step.game is None:
            print(" " * _INDENT + "there is no view here", flush=True)
        else:
            print("\n".join(indented([checked.step.game.view(None)], _INDENT)), flush=True)


def _head(export: Export) -> Iterator[str]:
    match = export.match
    yield printable(f"match {match.match_id} of {match.game}, rules {match.rules_version}, {date(match.created_ms)}")
    for number, seat in enumerate(match.seats):
        yield printable(f"seat {number}: {seat.player_id or f'bot {seat.bot}'}")
    yield f"commitment {match.commitment.hex()}"


def _told(export: Export, checked: Checked) -> Iterator[str]:
    """One entry, and below it what everyone saw."""
    if checked.entry is None:
        yield f"{checked.revision:>5}  {'sealed':<20} leaf {export.entries[checked.revision - 1].leaf.hex()}"
        return
    entry = checked.entry
    yield f"{checked.revision:>5}  {clock(entry.time_ms)}  {who(entry.seat):<7} {printable(entry.text)}"
    if checked.step is not None:
        yield from indented(shown(checked.step.events, None), _INDENT)


def _tail(export: Export, game: AnyGame) -> Iterator[str]:
    if export.outcome is not None:
        yield f"ended: {outcome_line(export.outcome)}"
    else:
        yield "ended" if export.state == ENDED else "aborted"
    yield f"seed {export.seed.hex()}"
