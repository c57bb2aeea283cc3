"""Wishes: what a client asks for, checked and completed, so that equal wishes have equal bytes."""

from __future__ import annotations

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from gateway.games import ServedGame
from gateway.options import complete_options, resolve_variant
from services.kit.errors import Malformed, NotServed
from tortuga.gateway.v1.matchmaking_service_pb2 import Wish
from tortuga.play.v1.match_pb2 import MatchSettings, Spectators

ANSWER_DELAY_MS = 400
"""Milliseconds after which a prepared answer enters a hidden window, if the wish says nothing."""

LONGEST_ANSWER_DELAY_MS = 10_000

_OPEN, _LINK, _NONE = Spectators.SPECTATORS_OPEN, Spectators.SPECTATORS_LINK, Spectators.SPECTATORS_NONE


def complete_wish(served: ServedGame, wish: Wish, start_seconds: int) -> Wish:
    """*wish* of a ticket with everything filled in: variant, options, seats, settings.

    *start_seconds* is the start limit of matches from tickets; what the client says of it is ignored.

    Raises:
        NotFound: VARIANT_UNKNOWN.
        Malformed: OPTION_MALFORMED, OPTION_UNKNOWN, OPTION_RANGE (see `complete_options`); SEATS with min and max;
            SETTING_RANGE with setting, min and max.
        NotServed: SETTING_NOT_SERVED with the setting.
    """
    variant = resolve_variant(served, wish.variant)
    fewest, most = served.seats(variant)
    seats = wish.seats or fewest
    if not fewest <= seats <= most:
        raise Malformed("SEATS", min=fewest, max=most)
    _refuse_unknown(wish)
    return Wish(
        game=served.id,
        variant=variant,
        options=complete_options(served, variant, wish.options),
        seats=seats,
        settings=complete_settings(wish.settings, start_seconds),
    )


def complete_settings(settings: MatchSettings, start_seconds: int) -> MatchSettings:
    """The platform's options of a ticket's match, every one of them set.

    Clocks, banks, patience, pauses and delayed spectators come with a later release: they are refused unless zero, so
    that nobody waits for a match in the belief that it will have them. A link to watch by belongs to tables.

    Raises:
        Malformed: SETTING_RANGE with setting, min and max.
        NotServed: SETTING_NOT_SERVED with the setting.
    """
    _refuse_unknown(settings)
    for name in ("turn_seconds", "bank_seconds", "spectator_delay_seconds", "patience", "pausers"):
        if getattr(settings, name):
            raise NotServed("SETTING_NOT_SERVED", setting=name)
    spectators = settings.spectators or _OPEN
    if spectators == _LINK:
        raise NotServed("SETTING_NOT_SERVED", setting="spectators")
    if spectators not in (_OPEN, _NONE):
        raise Malformed("SETTING_RANGE", setting="spectators", min=_OPEN, max=_NONE)
    delay = settings.answer_delay_ms if settings.HasField("answer_delay_ms") else ANSWER_DELAY_MS
    if delay > LONGEST_ANSWER_DELAY_MS:
        raise Malformed("SETTING_RANGE", setting="answer_delay_ms", min=0, max=LONGEST_ANSWER_DELAY_MS)
    return MatchSettings(
        turn_seconds=0,
        bank_seconds=0,
        start_seconds=start_seconds,
        spectators=spectators,
        patience=0,
        answer_delay_ms=delay,
    )


def _refuse_unknown(message: Message) -> None:
    """A newer client may know settings that this release does not: better refused than silently left out."""
    if len(unknown := UnknownFieldSet(message)):
        raise NotServed("SETTING_NOT_SERVED", setting=unknown[0].field_number)
