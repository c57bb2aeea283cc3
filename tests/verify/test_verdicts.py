"""What `verify` says of true records: full, or partial where entries are sealed, with the chain still checked."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from services.kit.entry import Entry
from services.kit.export import Export, read, write
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.rules import Seat, Viewer
from services.kit.verify import Tampered, verify, walk
from tests.verify.recording import Recording, changed_options
from tortuga.play.v1 import play_pb2

GAMES = [load_game(name) for name in installed_games()]
SIZES = [(game, seats) for game in GAMES for seats in range(game.description.min_seats, game.description.max_seats + 1)]


def every_size() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("game", "seats"), SIZES, ids=[f"{game.id}-{seats}" for game, seats in SIZES])


def fresh_name(what: str) -> str:
    name = f"{what}/{Random().randrange(1 << 32)}"
    print("seed", name)
    return name


@every_size()
def test_random_matches_verify_in_full(game: AnyGame, seats: int) -> None:
    """Any options, silent seats or none: each entry is judged anew, each draw recomputed, even after a file."""
    for index in range(4):
        recording = Recording(game, seats, fresh_name("random"), options=changed_options(game) if index % 2 else None)
        recording.begin(silent=range(index))
        recording.play()
        verdict = verify(read(write(recording.export()).encode()), game)
        assert verdict.full
        assert verdict.entries == verdict.replayed == len(recording.steps)
        assert verdict.draws == sum(len(step.entry.addresses) for step in recording.steps) > 0


@every_size()
def test_resigned_matches_verify_in_full(game: AnyGame, seats: int) -> None:
    """With all but one seat giving up in mid-play, one after the other."""
    recording = Recording(game, seats, fresh_name("resigned"))
    recording.begin()
    for seat in recording.luck.sample(recording.seats, seats - 1):
        recording.play(recording.luck.randrange(6))
        if not recording.last.standing.over:
            recording.kit(play_pb2.KIT_KIND_RESIGN, seat)
    recording.play()
    export = recording.export()
    assert export.outcome is not None
    assert verify(export, game).full


@every_size()
def test_aborted_matches_verify_in_full(game: AnyGame, seats: int) -> None:
    """By the start limit with some seats there, or by a player: no outcome, no draws, the seed revealed."""
    for there in range(seats):
        recording = Recording(game, seats, fresh_name("aborted"))
        for seat in recording.seats[:there]:
            recording.kit(play_pb2.KIT_KIND_CONTRIBUTE, seat, contribution=bytes(32))
        recording.wait(20_000)
        export = recording.export()
        assert (export.outcome, export.seed) == (None, recording.seed)
        assert verify(export, game) == (there + 1, 0, there + 1, 0)


def sealing(game: AnyGame, words: tuple[str, ...]) -> AnyGame:
    """*game*, with actions that begin with one of *words* sealed for all but their actors."""

    def opens_after(text: str, actor: Seat | None, viewer: Viewer) -> bool:
        return not text.startswith(words) or (viewer is not None and viewer == actor)

    return replace(game, opens_after=opens_after)


def sealed_match(seats: int = 3) -> tuple[AnyGame, Recording]:
    """A finished match of a game that seals how hands are split."""
    game = sealing(load_game("corsari"), ("partition",))
    recording = Recording(game, seats, "sealed/1")
    recording.begin()
    recording.play()
    return game, recording


def test_sealed_entries_make_it_partial() -> None:
    """What stands before the first sealed entry is judged; of what is sealed nothing but the leaf is in the file."""
    game, recording = sealed_match()
    partitions = [step for step in recording.steps if step.entry.text.startswith("partition")]
    text = write(recording.export())
    verdict = verify(read(text.encode()), game)
    assert not verdict.full
    assert (verdict.entries, verdict.sealed) == (len(recording.steps), len(partitions))
    assert verdict.replayed == partitions[0].revision - 1
    for step in partitions:
        for hidden in (step.entry.text, step.entry.action_id, recording.judge.blinding(step.revision).hex()):
            assert f'"{hidden}' not in text
        assert step.game is not None
        assert step.game.fingerprint().hex() not in text


def test_a_seats_own_entries_open_to_it() -> None:
    """The record that a seat gets has fewer sealed entries than a stranger's; both chains end in the same head."""
    game, recording = sealed_match()
    stranger = recording.export()
    own = recording.export(recording.match.seats[1].player_id)
    acted = sum(step.entry.text.startswith("partition") and step.entry.seat == 1 for step in recording.steps)
    assert acted > 0
    assert verify(own, game).sealed == verify(stranger, game).sealed - acted
    assert own.entries[-1].head == stranger.entries[-1].head


def test_behind_a_sealed_entry_what_needs_no_state_is_checked() -> None:
    """Chain, form and order go on being checked; a walk brings sealed entries without content, later ones unjudged."""
    game, recording = sealed_match()
    export = recording.export()
    found = list(walk(export, game))
    first = next(each for each in found if each.entry is None)
    assert all(each.step is None for each in found[first.revision - 1 :])
    later = next(each.revision for each in found[first.revision :] if each.entry is not None)
    for revision in (first.revision, later):
        with pytest.raises(Tampered, match="HEAD_DIFFERS") as raised:
            verify(with_leaf(export, revision), game)
        assert raised.value.revision == revision


def with_leaf(export: Export, revision: int) -> Export:
    """*export* with another leaf, or blind if it is open, at *revision*."""
    entries = list(export.entries)
    entry = entries[revision - 1]
    wrong = bytes(32)
    entries[revision - 1] = entry._replace(leaf=wrong) if entry.sealed else entry._replace(blind=wrong)
    return export._replace(entries=entries)


def test_a_walk_brings_every_entry_with_what_it_made_of_the_match() -> None:
    """In order, each with the step that the live match had."""
    game = load_game("corsari")
    recording = Recording(game, 2, "walk")
    recording.begin()
    recording.play()
    found = list(walk(recording.export(), game))
    assert [each.entry for each in found] == [step.entry for step in recording.steps]
    assert [Entry.read(entry.data) for entry in recording.export().entries] == [each.entry for each in found]
    for each, step in zip(found, recording.steps, strict=True):
        assert each.step is not None
        assert (each.step.head, each.step.events) == (step.head, step.events)
