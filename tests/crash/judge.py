"""The judge: compares what clients wrote down with what the database holds. A program of its own.

python -m tests.crash.judge JOURNALS DATABASE EXPORTS

It trusts no process of the platform: it reads the log with sqlite3 and json, and each match's export, as any player can
fetch it, with `services.kit.verify`. It prints a report as JSON; exit status 0 whatever it found.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from services.kit.export import BadExport, Export, read
from services.kit.game import load_game
from services.kit.verify import Tampered, verify

ENDED = 3
"""MATCH_STATE_ENDED; the judge takes the contract's number, not the platform's code."""

Line: TypeAlias = dict[str, Any]
Fault: TypeAlias = dict[str, object]


class Logged(NamedTuple):
    """One entry of the log."""

    revision: int
    seat: int | None
    action_id: str
    head: str
    data: bytes


class Match(NamedTuple):
    """One match of the database."""

    state: int
    revision: int
    head: str
    entries: Sequence[Logged]


def judge(journals: Path, database: Path, exports: Path) -> dict[str, object]:
    """The report: what was compared, and every fault."""
    matches, clients = _matches(database), _clients(journals)
    seats = _seats(clients)
    faults = [*_log_faults(matches), *_action_faults(matches, clients, seats), *_update_faults(matches, clients)]
    verified, unverified = _verify(matches, exports)
    faults += unverified
    return {
        "clients": len(clients),
        "matches": len(matches),
        "entries": sum(len(match.entries) for match in matches.values()),
        "acknowledged": sum(len(_acknowledged(lines)) for lines in clients.values()),
        "received": sum(line["kind"] == "received" for lines in clients.values() for line in lines),
        "verified": verified,
        "faults": faults,
    }


def _fault(kind: str, match_id: str, **facts: object) -> Fault:
    return {"kind": kind, "match_id": match_id, **facts}


# The database.


def _log_faults(matches: Mapping[str, Match]) -> Iterator[Fault]:
    """A log has no gaps, ends where its match says, and the match is over."""
    for match_id, match in matches.items():
        if match.state != ENDED:
            yield _fault("NOT_ENDED", match_id, state=match.state)
        revisions = [entry.revision for entry in match.entries]
        if revisions != list(range(1, len(revisions) + 1)):
            yield _fault("LOG_GAP", match_id)
        if match.entries and (match.revision, match.head) != (revisions[-1], match.entries[-1].head):
            yield _fault("HEAD_ELSEWHERE", match_id)


def _matches(database: Path) -> dict[str, Match]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        entries: dict[int, list[Logged]] = defaultdict(list)
        for row, revision, head, data in connection.execute(
            "SELECT match, revision, head, data FROM entries ORDER BY match, revision, id"
        ):
            entries[row].append(_logged(revision, head, data))
        return {
            match_id: Match(state, revision, head.hex(), entries[row])
            for row, match_id, state, revision, head in connection.execute(
                "SELECT id, match_id, state, revision, head FROM matches"
            )
        }


def _logged(revision: int, head: bytes, data: bytes) -> Logged:
    try:
        _, _, seat, _, action_id, _, _ = json.loads(data)
    except ValueError:
        seat, action_id = None, "unreadable"
    return Logged(revision, seat, action_id, head.hex(), data)


# The journals.


def _clients(journals: Path) -> dict[str, list[Line]]:
    found = {}
    for path in sorted(journals.glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            found[path.stem] = [json.loads(line) for line in file]
    return found


def _seats(clients: Mapping[str, Sequence[Line]]) -> dict[tuple[str, int], str]:
    """Which client sat where, by match and seat."""
    shown = ((name, line) for name, lines in clients.items() for line in lines if line["kind"] == "shown")
    return {(line["match_id"], line["seat"]): name for name, line in shown}


def _acknowledged(lines: Sequence[Line]) -> dict[tuple[str, str], set[int]]:
    """A client's acknowledged actions, by match and action id, with the update that each was said to be in."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for line in lines:
        if line["kind"] == "answered":
            found[line["match_id"], line["action_id"]].add(line["seq"])
    return found


def _action_faults(
    matches: Mapping[str, Match], clients: Mapping[str, Sequence[Line]], seats: Mapping[tuple[str, int], str]
) -> Iterator[Fault]:
    """Every acknowledged action is in the log once, under its own seat; every action in the log was acknowledged."""
    logged: Counter[tuple[str, str, str]] = Counter()
    for match_id, match in matches.items():
        for entry in match.entries:
            if entry.seat is not None:
                logged[seats.get((match_id, entry.seat), "nobody"), match_id, entry.action_id] += 1
    acknowledged = {(name, *key): said for name, lines in clients.items() for key, said in _acknowledged(lines).items()}
    for (name, match_id, action_id), said in acknowledged.items():
        if logged[name, match_id, action_id] == 0:
            yield _fault("LOST", match_id, client=name, action_id=action_id)
        if len(said) > 1:
            yield _fault("ANSWERS_DIFFER", match_id, client=name, action_id=action_id)
    for (name, match_id, action_id), times in logged.items():
        if times > 1:
            yield _fault("DOUBLED", match_id, client=name, action_id=action_id)
        if times and (name, match_id, action_id) not in acknowledged:
            yield _fault("NEVER_ACKNOWLEDGED", match_id, client=name, action_id=action_id)


def _update_faults(matches: Mapping[str, Match], clients: Mapping[str, Sequence[Line]]) -> Iterator[Fault]:
    """Each client got each update once and in order, skipped none, was shown what is in the log, and saw the end."""
    for name, lines in clients.items():
        by_match: dict[str, list[Line]] = defaultdict(list)
        for line in lines:
            by_match[line["match_id"]].append(line)
        for match_id, own in by_match.items():
            found = [*_order_faults(own), *_showing_faults(own, matches.get(match_id))]
            for kind, seq in found:
                yield _fault(kind, match_id, client=name, seq=seq)
            if not any(line["kind"] == "over" and line["state"] == ENDED for line in own):
                yield _fault("END_NOT_SEEN", match_id, client=name)


def _order_faults(lines: Sequence[Line]) -> Iterator[tuple[str, int]]:
    """Kinds and places of what is wrong with the numbers of the updates that a client received of one match."""
    newest, afresh = 0, False
    for line in lines:
        if line["kind"] == "skipped":
            yield "SKIPPED", line["first"]
        elif line["kind"] == "attached":
            afresh = line["after"] == 0  # it held no update yet (0 is none): the answer is the match as it stands
        elif line["kind"] == "received":
            if not afresh and line["seq"] != newest + 1:
                yield ("GAP" if line["seq"] > newest else "REPEATED"), line["seq"]
            newest, afresh = line["seq"], False


def _showing_faults(lines: Sequence[Line], match: Match | None) -> Iterator[tuple[str, int]]:
    """Updates whose head the log does not hold, or not behind the one before. Update 0 shows the match without one."""
    revisions = {} if match is None else {entry.head: entry.revision for entry in match.entries}
    newest = 0
    for line in lines:
        if line["kind"] == "shown":
            revision = revisions.get(line["head"], 0 if line["seq"] == 0 else -1)
            if revision < newest or (revision == newest and line["seq"]):
                yield "SHOWN_NOT_LOGGED", line["seq"]
            newest = max(newest, revision)


# The exports.


def _verify(matches: Mapping[str, Match], exports: Path) -> tuple[int, list[Fault]]:
    """How many matches verify in full, and what is wrong with the others."""
    verified, faults = 0, []
    for match_id, match in matches.items():
        try:
            export = read((exports / f"{match_id}.json").read_bytes())
            verdict = verify(export, load_game(export.match.game))
        except FileNotFoundError:
            faults.append(_fault("NO_EXPORT", match_id))
        except (BadExport, Tampered) as error:
            faults.append(_fault("NOT_VERIFIED", match_id, what=str(error)))
        else:
            if not _is_of(match, export):
                faults.append(_fault("EXPORT_DIFFERS", match_id))
            elif not verdict.full:
                faults.append(_fault("SEALED", match_id, sealed=verdict.sealed))
            else:
                verified += 1
    return verified, faults


def _is_of(match: Match, export: Export) -> bool:
    """Whether the export holds just what the database does."""
    exported = [(entry.head.hex(), entry.data) for entry in export.entries]
    return exported == [(entry.head, entry.data) for entry in match.entries]


if __name__ == "__main__":
    print(json.dumps(judge(*map(Path, sys.argv[1:4]))))
