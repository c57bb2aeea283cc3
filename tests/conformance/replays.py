"""`replay`: the log alone brings a match back: positions, heads, and what everybody was told."""

from __future__ import annotations

from typing import Any

from services.kit.judge import Divergence
from tests.conformance.ground import Ground
from tests.conformance.transcript import digest, fold, recorded


def replay(ground: Ground) -> None:
    """Random matches with time-outs and resignations, folded from their entries by the kit's judge."""
    for line in ground.lines():
        record, steps = recorded(line)
        ground.findings.where = line.name
        try:
            folded = [step for _, step in fold(ground.game, record)]
        except Divergence as wrong:
            ground.findings.add("DIVERGENCE", wrong)
            continue
        for ours, theirs in zip(steps, folded, strict=True):
            if not ground.findings.expect(ours.seqs == theirs.seqs, "UPDATES", f"{ours.seqs} or {theirs.seqs}"):
                break
            mine: Any = ours.game
            yours: Any = theirs.game
            prints = [None if state is None else state.fingerprint() for state in (mine, yours)]
            if not ground.findings.expect(prints[0] == prints[1], "POSITION", ours.entry.text):
                break
            told = [digest(line.match, step) for step in (ours, theirs)]
            if not ground.findings.expect(told[0] == told[1], "TOLD", ours.entry.text):
                break
        ground.findings.expect(steps[-1].standing.outcome == folded[-1].standing.outcome, "OUTCOME")
