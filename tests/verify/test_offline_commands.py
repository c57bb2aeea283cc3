"""`verify` and `replay` of files, as typed: what is printed, and the exit status. Nothing listens anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from services.cli.main import app
from services.kit.export import Export, write
from services.kit.game import load_game
from tests.verify.recording import Recording
from tests.verify.tampering import rewritten
from tests.verify.test_golden import LOGS
from tests.verify.test_tampering import DISCARD, recorded, true_record
from tests.verify.test_verdicts import sealed_match


def tortuga(*arguments: object, given: str = "") -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), input=given, env={"TORTUGA_TARGET": "127.0.0.1:1"})


def kept(folder: Path, export: Export) -> Path:
    path = folder / "match.json"
    path.write_text(write(export), encoding="utf-8")
    return path


def verdict(result: Result) -> Any:
    """The one line of JSON on stdout."""
    [line] = result.stdout.splitlines()
    return json.loads(line)


def test_verify_says_full(tmp_path: Path) -> None:
    """Counts and hashes to compare; exit 0."""
    path, export = kept(tmp_path, true_record()), true_record()
    result = tortuga("verify", path, "--json")
    assert result.exit_code == 0
    draws = sum(len(step.entry.addresses) for step in recorded().steps)
    assert verdict(result) == {
        "verdict": "full",
        "match": export.match.match_id,
        "game": "corsari",
        "seats": 3,
        "entries": len(export.entries),
        "sealed": 0,
        "replayed": len(export.entries),
        "draws": draws,
        "commitment": export.match.commitment.hex(),
        "head": export.entries[-1].head.hex(),
    }
    said = tortuga("verify", path)
    assert said.exit_code == 0
    assert said.stdout.splitlines()[0] == "full"
    assert f"{len(export.entries)} entries, {draws} shuffles and rolls recomputed" in said.stdout


def test_verify_says_partial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`partial: n sealed`, exit 0."""
    game, recording = sealed_match()
    monkeypatch.setattr("services.cli.records.load_game", lambda _: game)
    path = kept(tmp_path, recording.export())
    found = verdict(tortuga("verify", path, "--json"))
    assert (found["verdict"], found["sealed"] > 0, found["replayed"] < found["entries"]) == ("partial", True, True)
    said = tortuga("verify", path)
    assert said.exit_code == 0
    assert said.stdout.splitlines()[0] == f"partial: {found['sealed']} sealed"
    shown = tortuga("replay", path, "--all")
    assert shown.stdout.count(" sealed ") == found["sealed"]


def test_verify_refuses_and_names_the_entry(tmp_path: Path) -> None:
    """The entry and the code; exit 1. Without --json in words."""
    path = kept(tmp_path, rewritten(true_record(), DISCARD, text="draw stock"))
    result = tortuga("verify", path, "--json")
    assert result.exit_code == 1
    assert verdict(result) == {
        "verdict": "refused",
        "match": true_record().match.match_id,
        "entry": DISCARD,
        "reason": "ENTRY_REFUSED PHASE",
    }
    said = tortuga("verify", path)
    assert (said.exit_code, said.stdout) == (1, f"refused: entry {DISCARD}: ENTRY_REFUSED PHASE\n")
    assert "does not hold" in said.stderr


def test_verify_refuses_what_is_no_export(tmp_path: Path) -> None:
    """With the place; exit 1. A match of another game than the one that was asked for is refused too."""
    path = tmp_path / "bad.json"
    path.write_text(write(true_record()).replace('"blind": "', '"blind": "0', 1), encoding="utf-8")
    result = tortuga("verify", path, "--json")
    assert result.exit_code == 1
    found = {"verdict": "refused", "place": "entries[0].blind", "entry": 1, "reason": "NOT_HEX"}
    assert verdict(result) == found
    path.write_bytes(b"")
    assert tortuga("verify", path).stdout == "refused: the match: NOT_JSON\n"
    other = tortuga("verify", kept(tmp_path, true_record()), "--game", "another", "--json")
    assert (other.exit_code, verdict(other)["reason"]) == (1, "GAME_DIFFERS")


def test_what_cannot_be_checked_is_no_verdict(tmp_path: Path) -> None:
    """No such file, no such game, no platform: exit 2, nothing on stdout, one line on stderr."""
    text = write(true_record()).replace('"game": "corsari"', '"game": "unheard"')
    (tmp_path / "unheard.json").write_text(text, encoding="utf-8")
    for source in (tmp_path / "missing.json", tmp_path, tmp_path / "unheard.json"):
        for command in ("verify", "replay"):
            result = tortuga(command, source)
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr.startswith("tortuga: ")
            assert len(result.stderr.splitlines()) == 1


def test_commands_say_when_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No platform at the target: words on stderr and exit 2, once patience has ended."""
    monkeypatch.setattr("services.cli.records._PATIENCE_SECONDS", 0.2)
    for command in ("export", "verify", "replay", "watch"):
        result = tortuga(command, "somematch")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("tortuga: somematch: Unreachable")
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_replay_shows_every_entry(path: Path) -> None:
    """In a pipe all of it: each entry's number, time, actor and text form; the seed at the end."""
    result = tortuga("replay", path)
    assert result.exit_code == 0
    file = json.loads(path.read_text(encoding="utf-8"))
    entries = [json.loads(entry["entry"]) for entry in file["entries"]]
    shown = re.findall(r"^ +(\d+)  \d\d:\d\d:\d\d\.\d{3}  (system|seat \d) +(.*)$", result.stdout, re.MULTILINE)
    wanted = [(str(each[1]), "system" if each[2] is None else f"seat {each[2]}", each[3]) for each in entries]
    assert shown == wanted
    assert result.stdout.splitlines()[-1] == f"seed {file['seed']}"
    assert f"commitment {file['match']['commitment']}" in result.stdout


def test_replay_shows_what_everyone_saw(tmp_path: Path) -> None:
    """Below each entry stand its events in their public forms; what these hide is not shown, though it is known."""
    shown = tortuga("replay", kept(tmp_path, true_record()), "--all").stdout
    blocks = re.split(r"^ +\d+  \d\d:\d\d:\d\d.*\n", shown, flags=re.MULTILINE)[1:]
    hidden = 0
    for step, block in zip(recorded().steps, blocks, strict=True):
        forms = [event.public() for event in step.events]
        lines = [line for form in forms for line in str(form).splitlines()]
        assert [line.strip() for line in block.splitlines()][: len(lines)] == [line.strip() for line in lines]
        hidden += forms != list(step.events)
    assert hidden > 3


class _Terminal:
    """stdin as a terminal: says that it is one, and has these lines."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return f"{self._lines.pop(0)}\n" if self._lines else ""


@pytest.mark.parametrize(
    ("keys", "entries", "ends"),
    [(("", "", "q"), 3, False), (("", "v", "q"), 2, False), ((), 1, False), (("", "a"), None, True)],
    ids=["two more and quit", "view", "end of input", "all"],
)
def test_on_a_terminal_replay_goes_step_by_step(
    keys: tuple[str, ...],
    entries: int | None,
    ends: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Enter shows the next entry, v the spectators' view, a the rest, q ends."""
    from services.cli.replay import replay

    path = kept(tmp_path, true_record())
    monkeypatch.setattr("sys.stdin", _Terminal(*keys))
    replay(str(path))
    out = capsys.readouterr().out
    shown = re.findall(r"^ +\d+  \d\d:\d\d:\d\d", out, re.MULTILINE)
    assert len(shown) == (entries or len(true_record().entries))
    assert ("seed " in out) == ends
    assert ("there is no view here" in out) == ("v" in keys)


def test_a_tampered_replay_stops_where_it_does_not_hold(tmp_path: Path) -> None:
    """What stands before is shown; the entry that does not fit is not; exit 1 with its number."""
    result = tortuga("replay", kept(tmp_path, rewritten(true_record(), DISCARD, text="draw stock")))
    assert result.exit_code == 1
    assert f"entry {DISCARD}: ENTRY_REFUSED PHASE" in result.stderr
    assert f"\n{DISCARD - 1:>5}  " in result.stdout
    assert f"\n{DISCARD:>5}  " not in result.stdout


def test_a_file_cannot_command_the_terminal(tmp_path: Path) -> None:
    """Control characters in what a file says are not printed as such."""
    recording = Recording(load_game("corsari"), 2, "escape")
    recording.match.seats[0].player_id = "\x1b[2J"
    recording.judge.match.seats[0].player_id = "\x1b[2J"
    recording.first = recording.judge.before_first()
    recording.wait(20_000)
    result = tortuga("replay", kept(tmp_path, recording.export("p")))
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "\ufffd[2J" in result.stdout
