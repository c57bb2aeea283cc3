"""What viewers receive is enough: events applied to the first view give the server's, however they attach."""

from __future__ import annotations

from typing import Any

import pytest

from services.kit.audience import RING
from services.kit.rules import Seat
from services.kit.step import ENDED
from tests.match.stones import Move
from tests.match.table import Pod, World, play, seed_of
from tests.match.viewer import RESIGN, Message, Viewer

HUM = Move("hum")


class Follower:
    """A client that keeps the view by itself, from nothing but received bytes."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.view: Any = None
        self.seq = 0
        self._read = 0

    def follow(self) -> Any:
        """Take in what has come, and return the view."""
        messages = self.viewer.messages[self._read :]
        self._read += len(messages)
        for message in messages:
            self._take(message)
        return self.view

    def _take(self, message: Message) -> None:
        game = self.viewer.game
        response = message.response
        if response.HasField("attached") and not response.header.time_ms:
            return  # resuming: the updates follow
        if response.header.time_ms and not response.HasField("attached"):
            assert response.header.seq == self.seq + 1
        if response.header.time_ms:
            self.seq = response.header.seq
        if response.update.HasField("view"):
            self.view = game.wire.read_view(response.update, self.viewer.seat)
            if response.HasField("attached"):
                return  # a view that is whole holds its past
        if self.view is not None:
            events = game.wire.read_events(response.update)
            if not (response.update.HasField("view")):
                self.view = game.rules.follow(self.view, events, self.viewer.seat)


def _check(pod: Pod, followers: list[Follower]) -> None:
    """Everyone's view, legal actions, decision and status are the server's."""
    for follower in followers:
        viewer = follower.viewer
        match = pod.match(viewer.match_id)
        view = follower.follow()
        state = match.last.game
        assert follower.seq == viewer.seq == match.last.seq(viewer.seat)
        if state is None:
            continue
        assert view == state.view(viewer.seat)
        assert viewer.decision == match.last.decision(viewer.seat)
        newest = next(message for message in reversed(viewer.messages) if message.response.header.time_ms)
        if viewer.seat is not None and not match.last.standing.over:
            received, legal = viewer.game.wire.read_legal(newest.response.update), state.legal(viewer.seat)
            assert [*map(list, received)] == [*map(list, legal)]
        assert [asked.seat for asked in viewer.status.asked] == list(match.last.status.asked)


@pytest.mark.parametrize("players", [2, 3, 4])
async def test_followed_view_is_the_servers(world: World, pod: Pod, players: int) -> None:
    """For every seat and a spectator, after every move of a random match from its gathering to its end."""
    luck = seed_of()
    match_id = await world.match(pod, players)
    watcher = Viewer(pod.host, match_id, "watcher").attach()
    viewers = [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(players)]
    followers = [Follower(viewer) for viewer in [*viewers, watcher]]
    for viewer in viewers:
        await viewer.contribute()
    await watcher.in_state(2)
    for _ in range(60):
        _check(pod, followers)
        if not await play(pod, viewers, luck, 1, avoid=""):
            break
    for viewer in viewers:
        await viewer.act(kit=RESIGN)
    await watcher.in_state(ENDED)
    _check(pod, followers)
    for viewer in [*viewers, watcher]:
        assert viewer.status.outcome.places


async def test_followed_view_is_the_servers_with_hidden_moves(world: World, stones: Pod) -> None:
    """Where entries show some viewers nothing."""
    luck = seed_of()
    viewers = await world.running(stones, 3)
    viewers.append(Viewer(stones.host, viewers[0].match_id, "watcher").attach())
    await viewers[-1].next()
    followers = [Follower(viewer) for viewer in viewers]
    while not stones.match(viewers[0].match_id).last.standing.over:
        seat = Seat(luck.randrange(3))
        state = stones.state(viewers[0].match_id)
        move = luck.choice([HUM, state.sample(seat, luck)])
        answer = await viewers[seat].act(move, decision=0 if state.unasked(seat, move) else state.decisions[seat])
        assert answer.response.HasField("applied")
        _check(stones, followers)


async def test_answer_of_the_actor_is_its_update(world: World, pod: Pod) -> None:
    """Acknowledgement and update are one message; everyone else's has the same public bytes in front."""
    luck = seed_of()
    viewers = await world.running(pod, 3)
    before = [len(viewer.messages) for viewer in viewers]
    await play(pod, viewers, luck, 1)
    step = pod.match(viewers[0].match_id).last
    assert step.public
    for viewer, count in zip(viewers, before, strict=True):
        assert len(viewer.messages) == count + 1
        assert viewer.messages[-1].data.startswith(step.public)
    assert sum(message.messages[-1].response.HasField("applied") for message in viewers) == 1


async def test_everyone_at_one_seat_is_told(world: World, pod: Pod) -> None:
    """A second device, several spectators on one link: each attachment gets each update once."""
    luck = seed_of()
    viewers = await world.running(pod)
    again = Viewer(pod.host, viewers[0].match_id, "p0").attach()
    watchers = [Viewer(pod.host, again.match_id, f"w{number}").attach() for number in range(3)]
    for viewer in [again, *watchers]:
        await viewer.next()
    count = await play(pod, viewers, luck, 3)
    for viewer in [again, *watchers]:
        assert len(viewer.messages) == 1 + count
        assert viewer.seq == viewers[0].seq
    assert again.messages[-1].response.update.legal == viewers[0].messages[-1].response.update.legal


async def _attach_everywhere(pod: Pod, match_id: str, player_id: str, history: dict[int, bytes]) -> None:
    """Attach at every seq k of the log, fresh and resuming, and check each answer against play.proto."""
    newest = max(history)
    for k in range(newest + 3):
        for resume in (False, True):
            late = Viewer(pod.host, match_id, player_id).attach(after=k, resume=resume)
            await late.next()
            first, rest = late.messages[0].response, late.messages[1:]
            assert first.attached.seq == newest
            if k > newest:
                assert first.refused.reason == "HISTORY_REWOUND"
                assert (first.header.seq, rest) == (newest, [])
                assert first.HasField("status")
                assert first.update.HasField("view")
            elif k == 0 and not resume:
                assert (first.header.seq, rest, first.HasField("skipped")) == (newest, [], False)
                assert first.HasField("status")
                assert first.update.HasField("view")
            elif newest - k > RING:
                assert (getattr(first.skipped, "from"), first.skipped.to) == (k + 1, newest)
                assert (first.header.seq, rest) == (newest, [])
                assert first.update.HasField("view")
            else:
                assert (first.header.time_ms, first.HasField("update")) == (0, False)
                assert first.HasField("status") == pod.match(match_id).last.standing.over
                assert [message.seq for message in rest] == list(range(k + 1, newest + 1))
                assert [message.data for message in rest] == [history[seq] for seq in range(k + 1, newest + 1)]
            late.leave()


@pytest.mark.parametrize("who", ["p1", "watcher"])
async def test_attach_at_every_seq(world: World, pod: Pod, who: str) -> None:
    """Afresh, resuming, too far behind, beyond the log: while it runs, after its end, and in a pod that reloaded it."""
    luck = seed_of()
    match_id = await world.match(pod)
    listener = Viewer(pod.host, match_id, who).attach()
    await listener.next()
    others = [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(2)]
    for viewer in others:
        await viewer.contribute()
    await listener.in_state(2)
    assert await play(pod, others, luck, RING + 8) == RING + 8
    history = {message.seq: _without_answer(message) for message in listener.messages if message.seq}
    await _attach_everywhere(pod, match_id, who, history)
    await others[0].act(kit=RESIGN)
    await listener.in_state(ENDED)
    history = {message.seq: message.data for message in listener.messages if message.seq}
    await _attach_everywhere(pod, match_id, who, history)
    fresh = world.pod()
    await fresh.catch_up(match_id)
    await _attach_everywhere(fresh, match_id, who, history)


def _without_answer(message: Message) -> bytes:
    assert not message.response.HasField("applied")
    return message.data


async def test_resuming_counts_what_the_viewer_was_shown(world: World, stones: Pod) -> None:
    """Others' hidden moves take no place: 32 updates of one's own may lie far apart in the log."""
    viewers = await world.running(stones)
    seq = viewers[1].seq
    for turn in range(4):
        for _ in range(RING):
            await viewers[0].act(HUM, decision=0)
            await viewers[0].act(Move("whisper", "psst"), decision=0)
        assert (await viewers[turn % 2].act(Move("take", "1"), decision=turn // 2 + 1)).response.HasField("applied")
    late = Viewer(stones.host, viewers[0].match_id, "p1").attach(after=seq + 2)
    await late.next()
    assert [message.seq for message in late.messages] == [0, seq + 3, seq + 4]


async def test_resuming_before_the_first_update_misses_nothing(world: World, pod: Pod) -> None:
    """A viewer that holds update 0, which is nothing, and is re-homed gets update 1 and so on, not a whole view."""
    match_id = await world.match(pod)
    first = Viewer(pod.host, match_id, "p0").attach()
    await first.update(1)
    late = Viewer(pod.host, match_id, "p0").attach(after=0, resume=True)
    await late.update(1)
    assert [message.seq for message in late.messages] == [0, 1]
    assert not late.messages[0].response.HasField("status")


async def test_player_may_watch_as_a_spectator(world: World, pod: Pod) -> None:
    """Its own seat's secrets stay away from that attachment, and it cannot act there."""
    viewers = await world.running(pod)
    watching = Viewer(pod.host, viewers[0].match_id, "p0").attach(spectate=True)
    first = await watching.next()
    assert not first.response.attached.HasField("seat")
    assert watching.seat is None
    other = Viewer(pod.host, viewers[0].match_id, "watcher").attach()
    assert (await other.next()).data == first.data
    assert (await watching.act(kit=RESIGN)).reason == "NOT_SEATED"
