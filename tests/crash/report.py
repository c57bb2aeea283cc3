"""How long clients waited after each fault, as their own journals say, by kind of fault."""

from __future__ import annotations

import json
import math
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.crash.chaos import Struck
from tests.crash.orders import Point, read_notes


class Row(NamedTuple):
    """One kind of fault. Seconds run from the fault to each affected client's next received update."""

    kind: str
    faults: int
    clients: int
    p50: float
    p99: float
    worst: float
    silent: int
    """Clients who were affected and received nothing any more."""


def resume_times(folder: Path, database: Path, struck: Sequence[Struck]) -> list[Row]:
    """A row for each kind. *folder* holds journals and orders."""
    received = _received(folder / "journals")
    wrote = _holders(folder / "orders", database)
    seconds: dict[str, list[float]] = defaultdict(list)
    faults: dict[str, int] = defaultdict(int)
    silent: dict[str, int] = defaultdict(int)
    for fault in struck:
        kind = kind_of(fault)
        faults[kind] += 1
        for player, _ in _affected(fault, wrote):
            times = received[player]
            place = bisect_right(times, fault.at)
            if place < len(times):
                seconds[kind].append(times[place] - fault.at)
            else:
                silent[kind] += 1
    return [_row(kind, faults[kind], sorted(seconds[kind]), silent[kind]) for kind in sorted(faults)]


def kind_of(struck: Struck) -> str:
    """The kind under which a fault is reported."""
    fault = struck.fault
    if struck.masked:
        return "game, and again while it folds"
    if fault.kind == "stop":
        return "stop, its lock asleep" if fault.point is Point.LOCKED else "stop"
    return fault.kind if struck.pods == 1 or fault.kind == "gateway" else f"{fault.kind}, a second pod stands"


def answered_before(folder: Path) -> dict[str, list[bool]]:
    """For each point, whether the action in hand had been answered when the process was hit there, as clients know."""
    answers = {}
    for lines in _journals(folder / "journals").values():
        answers.update({line["action_id"]: line["at"] for line in lines if line["kind"] == "answered"})
    found: dict[str, list[bool]] = defaultdict(list)
    for deed in read_notes(folder / "orders", "deed"):
        if "action_id" in deed:
            found[deed["point"]].append(answers.get(deed["action_id"], math.inf) < deed["at"])
    return dict(found)


def lock_waits(folder: Path) -> list[float]:
    """Seconds of commits that waited for long, worst last."""
    return sorted(float(line["seconds"]) for line in read_notes(folder / "orders", "slow_commit"))


def start_seconds(folder: Path) -> list[float]:
    """Seconds that each life of each process took to come up, as far as it did; worst last."""
    born = {line["pid"]: line["wall"] for line in read_notes(folder / "orders", "born")}
    found = []
    for log in (folder / "logs").glob("*.log"):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"ready"' in line:
                said = json.loads(line)
                found.append(datetime.fromisoformat(said["time"]).timestamp() - born[said["pid"]])
    return sorted(found)


def table(rows: Sequence[Row]) -> str:
    """The rows, to be read."""
    lines = [f"{'fault':32} {'times':>5} {'clients':>7} {'p50 s':>7} {'p99 s':>7} {'worst':>7}"]
    lines += [
        f"{row.kind:32} {row.faults:5} {row.clients:7} {row.p50:7.2f} {row.p99:7.2f} {row.worst:7.2f}"
        + (f"  {row.silent} heard nothing" if row.silent else "")
        for row in rows
    ]
    return "\n".join(lines)


def write(path: Path, facts: Mapping[str, object]) -> None:
    """Write the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _row(kind: str, faults: int, seconds: Sequence[float], silent: int) -> Row:
    if not seconds:
        return Row(kind, faults, 0, 0.0, 0.0, 0.0, silent)
    half, most = (seconds[math.ceil(len(seconds) * part) - 1] for part in (0.5, 0.99))
    return Row(kind, faults, len(seconds), half, most, seconds[-1], silent)


def _affected(struck: Struck, wrote: Mapping[str, list[tuple[float, str]]]) -> Sequence[tuple[str, str]]:
    """Who could not go on: with two pods, those whose match the pod that was hit had written last, or had in hand."""
    everyone = struck.players
    if struck.pods == 1 or struck.fault.kind in {"gateway", "both"} or struck.fault.point is Point.LOCKED:
        return everyone
    return [seated for seated in everyone if _holder(wrote[seated[1]], struck.at) in struck.victims]


def _holder(writes: Sequence[tuple[float, str]], at: float) -> str:
    place = bisect_right(writes, at, key=lambda write: write[0])
    return writes[place - 1][1] if place else ""


def _holders(orders: Path, database: Path) -> Mapping[str, list[tuple[float, str]]]:
    """Per match, when which process wrote to it, or was hit with an entry of it in hand; in order."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        matches = dict(connection.execute("SELECT id, match_id FROM matches"))
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in [*read_notes(orders, "wrote"), *read_notes(orders, "deed")]:
        if "row" in line:
            found[matches[line["row"]]].append((line["at"], line["name"]))
    for times in found.values():
        times.sort()
    return found


def _received(journals: Path) -> dict[str, list[float]]:
    """Per client, when it received updates."""
    return {
        client: [line["at"] for line in lines if line["kind"] == "received"]
        for client, lines in _journals(journals).items()
    }


def _journals(journals: Path) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in journals.glob("*.jsonl"):
        with path.open(encoding="utf-8") as file:
            found[path.stem] = [json.loads(line) for line in file]
    return found
