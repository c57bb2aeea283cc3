"""`tortuga verify`: checks a finished match from its record alone (docs/fairness.md, "Checking").

Exit status: 0 if everything that could be checked fits, 1 if the record is refused, 2 if there was nothing to check.
"""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from services.cli import output
from services.cli.records import DEFAULT_TARGET, GameId, MatchOrFile, Target, Token, obtain
from services.kit.export import BadExport, Export
from services.kit.verify import Tampered, Verdict
from services.kit.verify import verify as check

REFUSED = 1


def verify(
    source: MatchOrFile,
    game: GameId = "",
    target: Target = DEFAULT_TARGET,
    token: Token = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as one line of JSON.")] = False,
) -> None:
    """Check a finished match: commitment, every shuffle and roll, legality of every entry, chain, outcome.

    A file is checked without any network. Says `full`, or `partial` if entries were sealed, or names the first entry
    that does not fit and ends with 1.
    """
    try:
        export, loaded = obtain(source, game, target, token)
    except BadExport as error:
        _refuse(source, {"place": error.place}, error.entry, error.what, as_json)
    try:
        if game and game != export.match.game:
            raise Tampered(0, "GAME_DIFFERS")
        verdict = check(export, loaded)
    except Tampered as error:
        _refuse(source, {"match": export.match.match_id}, error.revision, error.what, as_json)
    output.result(_as_json(export, verdict), as_json=as_json, text=_sentences(export, verdict))


def _as_json(export: Export, verdict: Verdict) -> dict[str, object]:
    match = export.match
    return {
        "verdict": "full" if verdict.full else "partial",
        "match": match.match_id,
        "game": match.game,
        "seats": len(match.seats),
        "entries": verdict.entries,
        "sealed": verdict.sealed,
        "replayed": verdict.replayed,
        "draws": verdict.draws,
        "commitment": match.commitment.hex(),
        "head": _last_head(export).hex(),
    }


def _sentences(export: Export, verdict: Verdict) -> str:
    match = export.match
    checked = f"{verdict.entries} entries, {verdict.draws} shuffles and rolls recomputed"
    if not verdict.full:
        checked = (
            f"{verdict.replayed} of {verdict.entries} entries judged, {verdict.draws} shuffles and rolls recomputed"
        )
    return "\n".join(
        [
            "full" if verdict.full else f"partial: {verdict.sealed} sealed",
            f"match {match.match_id} of {match.game}, {len(match.seats)} seats: {checked}",
            f"commitment {match.commitment.hex()}",
            f"last head {_last_head(export).hex()}",
        ]
    )


def _last_head(export: Export) -> bytes:
    """What stands for the whole record: who watched the match has it in the header of the last update."""
    return export.entries[-1].head if export.entries else export.head


def _refuse(source: str, known: dict[str, object], entry: int, reason: str, as_json: bool) -> NoReturn:
    found = {"verdict": "refused", **known, "entry": entry, "reason": reason}
    place = f"entry {entry}" if entry else known.get("place") or "the match"
    output.result(found, as_json=as_json, text=f"refused: {place}: {reason}")
    output.fail(f"{source} does not hold", REFUSED)
