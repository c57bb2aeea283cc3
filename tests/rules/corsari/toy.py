"""Positions in the notation of the dossier's vectors (section 7, K6): cards that are not listed are out of play."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, get_type_hints

from services.corsari.actions import PARTITION_AUTO, Action, Draw, Source, parse, partition_into, sail_with
from services.corsari.cards import ALL, NAMES, NONE, Cards, card_named, in_order, without
from services.corsari.options import STANDARD, Options
from services.corsari.phases import Phase
from services.corsari.splits import divide
from services.corsari.state import Position
from services.corsari.turns import play, silence
from services.corsari.wire import WIRE
from services.kit.rules import RuleError, Seat
from tortuga.corsari.v1 import corsari_pb2 as pb


def cards(listed: str | list[str]) -> Cards:
    """Cards from their text forms, in the order given."""
    names = listed.split() if isinstance(listed, str) else listed
    return bytes(map(card_named, names))


def names(of: Cards) -> list[str]:
    """Text forms in order."""
    return [NAMES[card] for card in of]


def options_of(given: Mapping[str, Any]) -> Options:
    """Options by name; enum values by their names, or as the contract numbers them."""
    kinds = get_type_hints(Options)
    values = {}
    for name, value in given.items():
        kind = kinds[name]
        if isinstance(value, str) and issubclass(kind, IntEnum):
            values[name] = kind[value.upper()]
        elif isinstance(value, str):
            values[name] = kind({"true": 1, "false": 0}.get(value.lower(), value))
        else:
            values[name] = kind(value)
    return Options(**values)


def position_of(given: Mapping[str, Any], options: Options | None = None) -> Position:
    """The position that `given` lists. `pen` are counts: the penalty cards are some of those listed nowhere else."""
    seats = given["n"]
    position = Position(options or options_of(given.get("options", {})), seats, "1")
    position.phase = Phase[given["phase"]]
    position.turn, position.dealer = Seat(given["turn"]), Seat(given["dealer"])
    position.hand_number = 1
    position.hands = tuple(in_order(cards(hand)) for hand in given["hands"])
    position.dock, position.discard = cards(given["dock"]), cards(given["discard"])
    position.stock = cards(given["stock"])
    listed = NONE.join((*position.hands, position.dock, position.discard, position.stock))
    free = without(ALL, listed)
    piles = []
    for count in given.get("pen", [0] * seats):
        piles.append(free[:count])
        free = free[count:]
    position.penalty = tuple(piles)
    position.last_hand = given.get("last", False)
    position.quiet_turns = given.get("quiet_turns", given.get("quiet", 0))
    position.void_streak = given.get("void_streak", 0)
    position.decisions = tuple(int(seat == position.turn) for seat in range(seats))
    if position.phase is Phase.PARTITION:
        closer = Seat(given.get("closer", given["turn"]))
        crew = in_order(cards(given.get("crew", given.get("closer_crew", []))))
        position.closer = divide(closer, position.hands[closer], position.dock_colour(), crew)
        position.known = tuple(hand if seat == closer else NONE for seat, hand in enumerate(position.hands))
        position.decisions = tuple(int(seat != closer) for seat in range(seats))
    return position


def toy(
    hands: list[str],
    *,
    phase: str = "DISCARD",
    dock: str = "az1 az2 az3 az4 az5 az6 bl1",
    stock: str = "az8 az9",
    pen: list[int] | None = None,
    options: Options = STANDARD,
    **more: Any,
) -> Position:
    """A position of the usual toy shape: seat 0 in turn, the last seat has dealt."""
    given = {"n": len(hands), "phase": phase, "turn": 0, "dealer": len(hands) - 1, "hands": hands, "dock": dock}
    given |= {"discard": "az7", "stock": stock, "pen": pen or [0] * len(hands), **more}
    return position_of(given, options)


def try_line(position: Position, line: str) -> str:
    """Play a vector's action, e.g. `0:discard(card=ye11, sail=True)`, up to the deal; "ok", or the code with `E_`."""
    try:
        seat, action = action_of(position, line)
        after = position.copy()
        play(after, seat, action)
    except RuleError as refusal:
        return f"E_{refusal.reason}"
    play(position, seat, action)
    return "ok"


def action_of(position: Position, line: str) -> tuple[Seat, Action]:
    """The seat and the action of a vector's line."""
    seat, name, arguments = re.fullmatch(r"\s*(\d+)\s*:\s*(\w+)\s*\((.*)\)\s*", line).groups()  # type: ignore[union-attr]  # a vector that does not match is a fault of the vector
    given = dict(_arguments(arguments))
    match name:
        case "draw":
            return Seat(int(seat)), _draw(given.get("src", given.get("source", "")))
        case "discard":
            return Seat(int(seat)), _discard(given)
        case "partition":
            return Seat(int(seat)), _partition(given)
        case "timeout":
            return Seat(int(seat)), silence(position)
    raise ValueError(line)


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """`name=value` pairs; a bare name stands for `name=True`. Values in brackets are lists of cards."""
    for name, value in re.findall(r"(\w+)\s*(?:=\s*(\[[^\]]*\]|[^,\[\]]+))?", text):
        yield name, value.strip() or "True"


def _draw(source: str) -> Action:
    if source.upper() in Source.__members__:
        return Draw(Source[source.upper()])
    return WIRE.read_action(pb.Action(draw=pb.Draw(source=99)).SerializeToString())  # type: ignore[arg-type]  # a source that no client should send


def _discard(given: Mapping[str, str]) -> Action:
    card = given["card"]
    if given.get("sail", "False") != "True":
        return parse(f"discard {card}")
    crew = given.get("crew", "None")
    if crew in ("None", "auto"):
        return parse(f"discard {card} sail auto")
    return sail_with(card_named(card), _list(crew))


def _partition(given: Mapping[str, str]) -> Action:
    if given.get("auto", "False") == "True" or given.get("crew") in ("None", "auto"):
        return PARTITION_AUTO
    return partition_into(_list(given.get("crew", "[]")), _list(given.get("attach", "[]")))


def _list(text: str) -> Cards:
    return cards(text.strip("[]").replace(",", " "))
