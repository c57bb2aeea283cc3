"""`tortuga export`: a finished match as a file, for checking and keeping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli import output
from services.cli.records import CANNOT, DEFAULT_TARGET, GameId, MatchId, Target, Token, from_platform
from services.kit.export import BadExport, write


def export(
    match: MatchId,
    game: GameId = "",
    target: Target = DEFAULT_TARGET,
    token: Token = "",
    out: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; by default to stdout.")
    ] = None,
) -> None:
    """Fetch a finished match and write it as a file that `verify` and `replay` read (docs/fairness.md)."""
    try:
        found = from_platform(match, game, target, token)
    except BadExport as error:
        output.fail(f"{match}: the platform's answer is no replay: {error}", CANNOT)
    text = write(found)
    if out is None:
        print(text, end="", flush=True)
    else:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            output.fail(f"{out}: {error.strerror}", CANNOT)
    sealed = sum(entry.sealed for entry in found.entries)
    output.note(f"{match}: {len(found.entries)} entries, {sealed} of them sealed")
