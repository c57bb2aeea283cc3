"""Random writers against a model of one store: what each call must answer, and what must be there in the end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from services.kit.store.port import ActionIdTaken, Append, MatchStore, StaleHead, StoreError
from tests.store.adapters import ADAPTERS
from tests.store.logbook import Log, new_match

MATCHES = ("m0", "m1", "m2")


@dataclass
class _Model:
    """What the store must hold of one match."""

    row: int
    root: bytes
    entries: list[Append] = field(default_factory=list)

    def expect(self, entry: Append) -> type[StoreError] | None:
        """What an append must answer now."""
        head = self.entries[-1].head if self.entries else self.root
        if (entry.revision, entry.parent) != (len(self.entries) + 1, head):
            same = 0 < entry.revision <= len(self.entries) and self.entries[entry.revision - 1].head == entry.head
            return None if same else StaleHead
        taken = any((kept.seat, kept.action_id) == (entry.seat, entry.action_id) for kept in self.entries)
        return ActionIdTaken if taken else None

    def take(self, entry: Append) -> None:
        """Keep *entry*, unless it is there."""
        if entry.revision == len(self.entries) + 1:
            self.entries.append(entry)


class _Writer:
    """A store of its own and its own, possibly old, idea of every log."""

    def __init__(self, store: MatchStore, logs: list[Log]) -> None:
        self.store = store
        self.logs = logs

    async def refresh(self, number: int) -> None:
        """Learn what others have written."""
        stored = await self.store.load(MATCHES[number])
        assert stored is not None
        self.logs[number] = Log(stored)

    def propose(self, number: int, model: _Model, luck: Random) -> Append:
        """An entry: mostly one that would fit what this writer knows; sometimes an old one again, or a used id."""
        log = self.logs[number]
        wake_at = luck.choice([None, luck.randrange(1000)])
        if model.entries and luck.random() < 0.2:
            return luck.choice(model.entries)
        action_id = luck.choice(model.entries).action_id if model.entries and luck.random() < 0.2 else ""
        return log.entry(action_id, luck.randrange(-1, 3), str(luck.random()), wake_at=wake_at)


async def _play(adapter: str, steps: int, luck: Random, folder: Path) -> None:
    place = ADAPTERS[adapter].place(folder)
    stores = [await ADAPTERS[adapter].open(place) for _ in range(2)]
    made = [await stores[0].create(new_match(match_id)) for match_id in MATCHES]
    models = [_Model(stored.row, stored.head) for stored in made]
    writers = [_Writer(store, [Log(stored) for stored in made]) for store in stores]
    for _ in range(steps):
        writer, number = luck.choice(writers), luck.randrange(len(MATCHES))
        if luck.random() < 0.4:
            await writer.refresh(number)
        if luck.random() < 0.2:
            await _compete(writers, models[number], number, luck)
            continue
        entry = writer.propose(number, models[number], luck)
        expected = models[number].expect(entry)
        if expected is None:
            await writer.store.append(entry)
            models[number].take(entry)
            if entry.parent == writer.logs[number].head:
                writer.logs[number].wrote(entry)
        else:
            with pytest.raises(expected):
                await writer.store.append(entry)
    await _check(stores[0], models)
    for store in stores:
        await store.close()


async def _compete(writers: list[_Writer], model: _Model, number: int, luck: Random) -> None:
    """Both write at the same moment: what came out must be what one order of the two calls gives."""
    entries = [writer.propose(number, model, luck) for writer in writers]
    results = await asyncio.gather(
        *[writer.store.append(entry) for writer, entry in zip(writers, entries, strict=True)], return_exceptions=True
    )
    got = [None if result is None else type(result) for result in results]
    possible = []
    for order in ((0, 1), (1, 0)):
        trial = _Model(model.row, model.root, list(model.entries))
        answers: dict[int, type[StoreError] | None] = {}
        for which in order:
            answers[which] = trial.expect(entries[which])
            if answers[which] is None:
                trial.take(entries[which])
        possible.append(([answers[0], answers[1]], trial.entries))
    kept = next((kept for answers, kept in possible if answers == got), None)
    assert kept is not None, (got, possible)
    model.entries = kept


async def _check(store: MatchStore, models: list[_Model]) -> None:
    heads = await store.heads(model.row for model in models)
    due = set(await store.due(1000, 10))
    for match_id, model in zip(MATCHES, models, strict=True):
        found = [(entry.revision, entry.head, entry.data) for entry in model.entries]
        assert await store.entries(model.row) == found
        assert heads[model.row] == (len(found), found[-1][1] if found else model.root)
        assert (match_id in due) == bool(model.entries and model.entries[-1].wake_at is not None)


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
async def test_random_writers_agree_with_the_model(adapter: str, tmp_path: Path) -> None:
    """Two stores at one place, three matches, old heads, repetitions, used ids, both at once: all as the port says.

    Which of two competitors wins is not ours to choose, so the seed fixes what they try and not what comes of it.
    """
    for game in range(12):
        seed = Random().randrange(1 << 32)
        print("seed", seed)
        folder = tmp_path / str(game)
        folder.mkdir()
        await _play(adapter, 40, Random(seed), folder)
