"""A match is the fold of its log: reloaded it is the same, and a log that does not replay is refused."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from services.kit import chain
from services.kit.entry import Entry
from services.kit.shell import metrics
from services.kit.step import ENDED
from tests.match.stones import Move
from tests.match.table import CORSARI, STONES, Pod, World, play, seed_of
from tests.match.viewer import RESIGN, Viewer

TAKE = Move("take", "1")


async def _same(world: World, pod: Pod, match_id: str) -> None:
    """A pod that loads the match has what *pod* has in memory, down to the bytes that any viewer would be sent."""
    await pod.quiet(match_id)
    fresh = world.pod(pod.host.game)
    watcher = Viewer(fresh.host, match_id, "w").attach()
    await watcher.next()
    mine, theirs = pod.match(match_id), fresh.match(match_id)
    assert (mine.last.head, mine.last.seqs, mine.last.spent) == (theirs.last.head, theirs.last.seqs, theirs.last.spent)
    assert mine.last.standing == theirs.last.standing
    assert mine.last.asked == theirs.last.asked
    if mine.last.game is not None:
        assert pod.state(match_id).fingerprint() == fresh.state(match_id).fingerprint()
    for seat in (None, *range(mine.judge.seats)):
        assert mine._teller.whole(mine.last, seat) == theirs._teller.whole(theirs.last, seat)
    assert mine._answers == theirs._answers


@pytest.mark.parametrize("players", [2, 3, 4])
async def test_reloaded_match_is_the_live_one(world: World, pod: Pod, players: int) -> None:
    """At random moments of a random match, in its start, and at its end."""
    luck = seed_of()
    match_id = await world.match(pod, players)
    Viewer(pod.host, match_id, "p1").attach()
    await pod.catch_up(match_id)
    viewers = [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(players)]
    await viewers[0].contribute(b"c" * 32)
    await _same(world, pod, match_id)
    for viewer in viewers[1:]:
        await viewer.contribute()
    for viewer in viewers:
        await viewer.in_state(2)
    for _ in range(3):
        await play(pod, viewers, luck, luck.randrange(1, 12))
        await _same(world, pod, match_id)
    for viewer in viewers:
        await viewer.act(kit=RESIGN)
    assert pod.match(match_id).last.standing.state == ENDED
    await _same(world, pod, match_id)


async def test_log_says_by_itself_what_was_played(world: World, pod: Pod) -> None:
    """Entries, keys and hashes alone give the final state again: nothing else is needed to check a match."""
    viewers = await world.running(pod, 3)
    match_id = viewers[0].match_id
    await play(pod, viewers, seed_of(), 25)
    stored = await world.stored(pod, match_id)
    match = pod.match(match_id)
    head = chain.root(match.match)
    for entry in await pod.store.store.entries(stored.row):
        leaf = chain.leaf(chain.blind(stored.blind_key, entry.revision), entry.data)
        head = chain.next_head(head, leaf)
        assert head == entry.head
        assert Entry.read(entry.data).data() == entry.data
    assert head == match.last.head == stored.head


def _change(path: Path, revision: int, **columns: bytes) -> None:
    """Falsify the stored entry."""
    with closing(sqlite3.connect(path)) as connection:
        for name, value in columns.items():
            connection.execute(f"UPDATE entries SET {name} = ? WHERE revision = ?", (value, revision))  # noqa: S608 - the test's own names
        connection.commit()


def _falsified(data: bytes, how: str) -> bytes:
    fields = json.loads(data)
    if how == "spaces":
        return json.dumps(fields).encode()
    change = {
        "text": (3, "take 2"),
        "time": (6, fields[6] + 1),
        "id": (4, "other"),
        "actor": (2, 1),
        "kit": (3, "@begin"),
    }
    if how in change:
        fields[change[how][0]] = change[how][1]
        return json.dumps(fields, separators=(",", ":")).encode()
    return {"garbage": b"\xff", "number": b"7", "unreadable": data.replace(b"take 1", b"steal 1")}[how]


@pytest.mark.parametrize(
    "how", ["text", "time", "id", "actor", "kit", "spaces", "garbage", "number", "unreadable", "head", "gap"]
)
async def test_falsified_log_is_refused(world: World, stones: Pod, tmp_path: Path, how: str) -> None:
    """Whatever was changed in a stored entry: it is counted, and the match is not played on from it."""
    viewers = await world.running(stones)
    match_id = viewers[0].match_id
    await viewers[0].act(TAKE)
    entries = await stones.store.store.entries((await world.stored(stones, match_id)).row)
    newest = entries[-1]
    path = tmp_path / "stones.db"
    if how == "head":
        _change(path, newest.revision, head=b"h" * 32)
    elif how == "gap":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM entries WHERE revision = ?", (newest.revision - 1,))
            connection.commit()
    else:
        _change(path, newest.revision, data=_falsified(newest.data, how))
    before = metrics.REPLAY_DIVERGENCE._value.get()
    fresh = world.pod(STONES)
    late = Viewer(fresh.host, match_id, "p1").attach()
    assert await late.until_ended() == "MATCH_BROKEN"
    assert not fresh.holds(match_id)
    assert metrics.REPLAY_DIVERGENCE._value.get() == before + 1


async def test_match_in_memory_refuses_once_its_log_has_diverged(world: World, tmp_path: Path) -> None:
    """A tail that does not replay: actions are refused as MATCH_BROKEN, the first answers still given."""
    one, other = world.pod(STONES), world.pod(STONES)
    first, _ = await world.running(one)
    there = Viewer(other.host, first.match_id, "p1").attach()
    await there.next()
    await first.act(TAKE, action_id="mine")
    newest = (await one.store.store.entries((await world.stored(one, first.match_id)).row))[-1]
    _change(tmp_path / "stones.db", newest.revision, data=newest.data.replace(b"take 1", b"take 3"))
    assert (await there.act(Move("whisper", "hush"), decision=0)).reason == "MATCH_BROKEN"
    assert (await there.act(Move("whisper", "hush"), decision=0)).reason == "MATCH_BROKEN"
    used = next(entry for entry in await world.log(one, first.match_id) if entry.seat == 1)
    assert used.text == "@contribute"
    assert (await there.contribute(action_id=used.action_id)).response.HasField("applied")


async def test_broken_match_is_not_woken_again_and_again(world: World, tmp_path: Path) -> None:
    """An overdue match whose log does not replay is loaded once; whoever asks for it is still told."""
    one = world.pod(STONES)
    match_id = await world.match(one, start_seconds=20)
    viewer = Viewer(one.host, match_id, "p0").attach()
    await viewer.update(1)
    await one.close()
    _change(tmp_path / "stones.db", 1, head=b"h" * 32)
    before = metrics.REPLAY_DIVERGENCE._value.get()
    other = world.pod(STONES)
    world.move_clock(30)
    async with asyncio.timeout(5):
        while metrics.REPLAY_DIVERGENCE._value.get() == before:
            await asyncio.sleep(0)
    for _ in range(5):
        gate = other.store.hold("due")
        await gate.reached.wait()
        gate.open()
    assert metrics.REPLAY_DIVERGENCE._value.get() == before + 1
    assert await Viewer(other.host, match_id, "p0").attach().until_ended() == "MATCH_BROKEN"


async def test_start_that_fails_breaks_the_match_alone(
    world: World, stones: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules that cannot begin a match leave it refused, without repeating it for ever, and others play on."""
    match_id = await world.match(stones)
    with monkeypatch.context() as broken:
        broken.setattr(stones.host.game.rules, "broken_start", True)
        viewers = [Viewer(stones.host, match_id, f"p{number}").attach() for number in range(2)]
        for viewer in viewers:
            await viewer.contribute()
        count = len(stones.store.appends)
        for _ in range(5):
            gate = stones.store.hold("due")
            await gate.reached.wait()
            gate.open()
        assert (await viewers[0].act(TAKE)).reason == "MATCH_BROKEN"
    assert len(stones.store.appends) == count
    await world.running(stones)


async def test_long_fold_lets_others_run(world: World, pod: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folding gives way to the loop; what is asked meanwhile waits and is then answered in order."""
    viewers = await world.running(pod, 4)
    await play(pod, viewers, seed_of(), 40)
    monkeypatch.setattr("services.kit.fold._YIELD_SECONDS", 0)
    fresh = world.pod(CORSARI)
    late = Viewer(fresh.host, viewers[0].match_id, "p0").attach()
    turns = 0
    while not late.messages:
        await asyncio.sleep(0)
        turns += 1
    assert turns >= pod.match(late.match_id).last.revision
    assert late.seq == viewers[0].seq
