"""Records the golden logs of a release: `python -m tests.verify.golden`. It adds files, and never changes one.

A golden log is a whole finished match as a release's rules and kit wrote it. Later releases verify all of them, so that
old logs still replay: whoever breaks one has changed the rules of a version, and has to make a new version instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Final

from services.kit.export import write
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.rules import Seat
from services.kit.session import PLAYERS_ABORT
from tests.verify.recording import Recording, changed_options
from tortuga.play.v1 import play_pb2

FOLDER: Final = Path(__file__).parents[1] / "playthroughs"


def logs_of(game: str, folder: Path = FOLDER) -> Path:
    """Where the golden logs of a game lie."""
    return folder / game / "logs"


def record(folder: Path, games: Iterable[str], release: str) -> list[Path]:
    """Write what is missing of *release*'s logs; returns the new files."""
    new = []
    for game in map(load_game, games):
        for name, make in _cases(game).items():
            path = logs_of(game.id, folder) / f"{release}-{name}.json"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as file:
                    file.write(write(make(f"golden/{release}/{game.id}/{name}").export()))
                new.append(path)
    return new


def _cases(game: AnyGame) -> dict[str, Callable[[str], Recording]]:
    """The matches to record, each made from its name."""
    least, most = game.description.min_seats, game.description.max_seats
    cases: dict[str, Callable[[str], Recording]] = {}
    for seats in range(least, most + 1):
        cases[f"{seats}-seats"] = lambda name, seats=seats: _played(Recording(game, seats, name))  # type: ignore[misc]  # the default binds the number
    cases["other-options"] = lambda name: _played(Recording(game, least, name, options=changed_options(game)))
    cases["silent-seat"] = lambda name: _played(Recording(game, most, name), silent=(1,))
    cases["resigned"] = lambda name: _resigned(Recording(game, most, name))
    cases["given-up"] = lambda name: _resigned(Recording(game, least, name))
    cases["aborted"] = lambda name: _aborted(Recording(game, least, name))
    cases["nobody-came"] = lambda name: _left_alone(Recording(game, least, name))
    return cases


def _played(recording: Recording, silent: Iterable[int] = ()) -> Recording:
    recording.begin(silent)
    recording.play()
    return recording


def _resigned(recording: Recording) -> Recording:
    """One seat gives up in mid-play; what is left is played on."""
    recording.begin()
    recording.play(8)
    recording.kit(play_pb2.KIT_KIND_RESIGN, Seat(1))
    recording.play()
    return recording


def _aborted(recording: Recording) -> Recording:
    """A player changes their mind before the start."""
    recording.come(Seat(1))
    recording.kit(play_pb2.KIT_KIND_CONTRIBUTE, Seat(1), contribution=recording.luck.randbytes(32))
    recording.kit(play_pb2.KIT_KIND_ABORT, Seat(1), reason=PLAYERS_ABORT)
    return recording


def _left_alone(recording: Recording) -> Recording:
    """One player comes, and the start limit passes."""
    recording.come(Seat(0))
    recording.wait(20_000)
    return recording


if __name__ == "__main__":
    for written in record(FOLDER, installed_games(), version("tortuga-games")):
        print(written, file=sys.stderr)
