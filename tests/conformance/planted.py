"""The small game with one fault at a time, and the check and code by which each has to be caught."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from services.kit.game import AnyGame
from tests.conformance.bot_plants import (
    Counts,
    Illegal,
    Mute,
    Noisy,
    Peeks,
    Prosaic,
    Rising,
    Witness,
    instead_of_wild,
    undescribed,
)
from tests.conformance.plants import (
    AcceptanceDepends,
    CountsNothing,
    CountsRounds,
    DumpForgets,
    Endless,
    ErrorLeaks,
    EventLeaks,
    HashOrder,
    HidesTheDrawn,
    KeepsTheGraves,
    KeepsTheStock,
    LegalDepends,
    LoadForgets,
    LongViews,
    LosesTheFaces,
    OutOfTurn,
    OwnBytesLeak,
    OwnIsPublic,
    Prose,
    RefusalChanges,
    RefusalIsRemembered,
    SameAddress,
    SamplesTheIllegal,
    SkipsANumber,
    TimeoutDoesNothing,
    TimeoutIsRefused,
    TimeoutIsUnsound,
    Unaddressed,
    UpdatesDepend,
    ViewLeaks,
    WallClock,
)
from tests.conformance.small_game import PlunderRules, contract, plunder
from tests.conformance.small_game.position import Position


def _with(position: type[Position]) -> Callable[[], AnyGame]:
    return lambda: plunder(PlunderRules(position))


def broken_contract() -> AnyGame:
    """An option without presence: unset cannot be told from 0."""
    text = contract.TEXT.replace("optional uint32 hand = 1;", "uint32 hand = 1;")
    return plunder(service=contract.service_of(text))


def hash_order() -> AnyGame:
    """For another process."""
    return plunder(PlunderRules(HashOrder))


class Plant(NamedTuple):
    """A faulty game, and what has to be found in it by which check."""

    check: str
    code: str
    game: Callable[[], AnyGame]
    reference: str = ""
    matches: int = 1
    """Matches of each table; what comes rarely takes more of them."""
    alone: bool = False
    """Whether no other check may find anything: the fault breaks this one promise only."""


THE_TEN: Mapping[str, Plant] = {
    "the view leaks a card": Plant("non_interference", "VIEW", _with(ViewLeaks)),
    "legal depends on a hidden card": Plant(
        "non_interference",
        "LEGAL",
        _with(LegalDepends),  # not alone: a bot is told what is legal, so it is no longer blind either
    ),
    "an error parameter leaks": Plant("non_interference", "REFUSAL", _with(ErrorLeaks), alone=True),
    "the number of updates depends on a hidden choice": Plant(
        "non_interference", "CHOICE", _with(UpdatesDepend), matches=2
    ),
    "a refusal changes the state": Plant("legality", "CHANGED", _with(RefusalChanges), alone=True),
    "wall clock in apply": Plant("addressed_chance", "CLOCK", _with(WallClock)),
    "unaddressed randomness": Plant("addressed_chance", "UNADDRESSED", _with(Unaddressed)),
    "a text form loses a field": Plant("text_forms", "TEXT", lambda: plunder(LosesTheFaces())),
    "an illegal time-out step": Plant("silence", "TIMEOUT_REFUSED", _with(TimeoutIsRefused)),
    "load forgets a field": Plant("dump_load", "READS_BACK", lambda: plunder(LoadForgets())),
}
"""The faults that issue 3 names."""

MORE: Mapping[str, Plant] = {
    "a contract without presence": Plant("contract", "RULE", broken_contract, alone=True),
    "own bytes leak the stock": Plant("non_interference", "VIEW", lambda: plunder(wire=OwnBytesLeak())),
    "acceptance depends on a hidden card": Plant("non_interference", "REFUSAL", _with(AcceptanceDepends), matches=3),
    "an event leaks on the wire": Plant("non_interference", "CHOICE", lambda: plunder(wire=EventLeaks())),
    "what follows depends on a hidden choice": Plant("non_interference", "UPDATE", _with(UpdatesDepend)),
    "a refusal is remembered elsewhere": Plant("legality", "TRACE", _with(RefusalIsRemembered), alone=True),
    "acts out of turn": Plant("legality", "ACCEPTED", _with(OutOfTurn), matches=3),
    "refuses in prose": Plant("legality", "REFUSAL", _with(Prose), alone=True),
    "samples what is illegal": Plant("legality", "SAMPLE_REFUSED", _with(SamplesTheIllegal)),
    "the order of a set": Plant("addressed_chance", "PROCESS", hash_order, f"{__name__}:hash_order", alone=True),
    "an address is used twice": Plant("addressed_chance", "ADDRESS_TWICE", _with(SameAddress), alone=True),
    "an unsound time-out step": Plant("silence", "TIMEOUT_UNSOUND", _with(TimeoutIsUnsound)),
    "a time-out that does nothing": Plant("silence", "TIMEOUT_CLOSES_NOTHING", _with(TimeoutDoesNothing)),
    "neither dump nor load knows a field": Plant("dump_load", "VIEW", _with(DumpForgets), alone=True),
    "redeals keep the stock": Plant("redeal", "KEPT", lambda: plunder(KeepsTheStock()), alone=True),
    "redeals keep the graves": Plant("redeal", "KEPT", lambda: plunder(KeepsTheGraves()), matches=4, alone=True),
    "decisions are not counted": Plant("decisions", "COUNT", _with(CountsNothing)),
    "a decision is skipped": Plant("decisions", "COUNT", _with(SkipsANumber), alone=True),
    "play without end": Plant("bounds", "ENDLESS", _with(Endless)),
    "a view without bounds": Plant("bounds", "WHOLE_TOO_LONG", lambda: plunder(wire=LongViews())),
    "who draws is not told": Plant("events_and_views", "FOLLOW", _with(HidesTheDrawn), alone=True),
    "own fields in public bytes": Plant("events_and_views", "CONCATENATION", lambda: plunder(wire=OwnIsPublic())),
    "a process that counts": Plant("replay", "POSITION", _with(CountsRounds)),
    "a bot peeks": Plant("bots", "BLIND", lambda: plunder(wire=Witness(), bots=instead_of_wild(Peeks)), alone=True),
    "a bot counts its questions": Plant("bots", "REPEATS", lambda: plunder(bots=instead_of_wild(Counts)), alone=True),
    "a bot plays what is illegal": Plant("bots", "ILLEGAL", lambda: plunder(bots=instead_of_wild(Illegal)), alone=True),
    "a bot has nothing to say": Plant("bots", "SILENT", lambda: plunder(bots=instead_of_wild(Mute)), alone=True),
    "a bot answers nothing": Plant("bots", "ANSWERS_NOTHING", lambda: plunder(bots=instead_of_wild(Noisy)), alone=True),
    "a bot's best comes last": Plant("bots", "ORDER", lambda: plunder(bots=instead_of_wild(Rising)), alone=True),
    "a bot explains in prose": Plant("bots", "REASON", lambda: plunder(bots=instead_of_wild(Prosaic)), alone=True),
    "a bot that nobody described": Plant("bots", "LEVELS", lambda: plunder(bots=undescribed), alone=True),
}
"""Others, so that every check is seen to bite."""
