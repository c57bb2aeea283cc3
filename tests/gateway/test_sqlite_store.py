"""What the embedded adapter promises besides the port."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from gateway.store import jobs, tables
from gateway.store.sqlite import SqliteGatewayStore


def test_no_call_reads_a_whole_table() -> None:
    """Every statement of a call finds its rows by an index, so that cost does not grow with the years."""
    at_start_or_by_the_hour = {"SELECT_WAITING", "SELECT_WAITING_WISHES", "SELECT_OPEN_ORDERS", "FORGET_WISHES"}
    connection = sqlite3.connect(":memory:", isolation_level=None)
    jobs.prepare(connection)
    statements = {name: text for name, text in vars(tables).items() if name.isupper() and isinstance(text, str)}
    assert len(statements) > 20
    for name, text in statements.items():
        if name.startswith("_") or name in at_start_or_by_the_hour:
            continue
        plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", (None,) * text.count("?")).fetchall()
        assert [step for *_, step in plan if step.startswith("SCAN")] == [], name
        assert [step for *_, step in plan if "TEMP B-TREE" in step] == [], f"{name} reads all there is to sort it"
    connection.close()


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Mode 0600; a file of a later release is left alone."""
    path = tmp_path / "gateway.db"
    store = await SqliteGatewayStore.open(path)
    await store.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RuntimeError, match="version 99"):
        await SqliteGatewayStore.open(path)
