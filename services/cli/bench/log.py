"""`tortuga bench log`: how fast the embedded store makes entries durable, together and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from services.cli import output
from services.cli.bench import figures
from services.cli.bench.appends import Appended, Appender
from services.cli.bench.figures import Spread
from services.cli.bench.marks import filesystem
from services.cli.bench.stage import data_folder, measured
from services.cli.progress import progress


def log(
    matches: Annotated[int, typer.Option(min=2, max=512, help="Matches that append side by side.")] = 64,
    seconds: Annotated[float, typer.Option("--seconds-per-slice", min=0.05, help="Length of a slice.")] = 1.0,
    slices: Annotated[int, typer.Option(min=1, help="Slices of each kind.")] = 5,
    data: Annotated[Path | None, typer.Option(help="Folder for the log, kept; by default a temporary one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Append entries to a SQLite log: those of many matches in common transactions, and those of one alone."""
    with data_folder(data) as folder:
        together, alone = measured(_appended(folder, matches, seconds, slices))
        kind = filesystem(folder)
    if kind == "tmpfs":
        output.note("the log lies in memory: nothing was durable, and the figures are too good")
    rows = {"grouped": _spreads(together), "single": _spreads(alone)}
    found: dict[str, Any] = {name: figures.as_json(spreads) for name, spreads in rows.items()}
    found |= {"matches": matches, "slices": slices, "seconds_per_slice": seconds, "filesystem": kind}
    columns = ("appends", "entries/s", "p50 ms", "p99 ms", "CPU µs", "batch")
    text = figures.table(
        f"Durable entries, {matches} matches together and one alone ({kind}), medians (and quartiles)",
        columns,
        [_row(name, spreads) for name, spreads in rows.items()],
    )
    output.result(found, as_json=as_json, text=text)


async def _appended(folder: Path, matches: int, seconds: float, slices: int) -> tuple[list[Appended], list[Appended]]:
    """Both kinds by turns."""
    together, alone = [], []
    async with Appender(folder / "bench-log.db") as appender:
        with progress("bench log", slices) as bar:
            for _ in range(slices):
                together.append(await appender.append(matches, seconds))
                alone.append(await appender.append(1, seconds))
                bar.advance()
    return together, alone


def _spreads(slices: Sequence[Appended]) -> dict[str, Spread]:
    return {
        "entries_per_second": Spread.of(each.entries / each.seconds for each in slices),
        "p50_ms": Spread.of(each.p50_ms for each in slices),
        "p99_ms": Spread.of(each.p99_ms for each in slices),
        "cpu_us": Spread.of(each.cpu_seconds / max(1, each.entries) * 1e6 for each in slices),
        "batch": Spread.of(each.batch for each in slices),
    }


def _row(name: str, spreads: dict[str, Spread]) -> list[str]:
    digits = {"entries_per_second": 0, "cpu_us": 0, "batch": 1}
    return [name, *(spread.text(digits.get(key, 2)) for key, spread in spreads.items())]
