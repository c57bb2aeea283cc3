"""Logs: one JSON object a line, ids from context, and never what an exception was given."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from services.kit.shell import logs

SECRET = "rd5 sd3 hidden"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    written = capsys.readouterr()
    assert written.out == ""
    return [json.loads(line) for line in written.err.splitlines()]


def fail_with_secrets() -> None:
    """Raise with the secret in the message, a cause's message, a local and a note."""
    card = SECRET
    try:
        raise KeyError(card)
    except KeyError as error:
        failure = ValueError(f"cannot play {card}")
        failure.add_note(card)
        raise failure from error


def test_a_line_is_json_with_what_was_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """Event, level, time, service, own fields and the ids of the context; below the level nothing is written."""
    logs.configure("info", "nim")
    with logs.bind(request_id="r1"):
        logs.logger(match_id="m1").info("folded", entries=3)
    logs.logger().debug("unheard")
    logs.logger().info("later")
    first, later = lines(capsys)
    assert first.pop("time").endswith("Z")
    assert first == {
        "event": "folded", "level": "info", "service": "nim", "request_id": "r1", "match_id": "m1", "entries": 3,
    }  # fmt: skip
    assert "request_id" not in later


@pytest.mark.parametrize("library", [False, True])
def test_a_traceback_has_places_and_types_and_no_arguments(capsys: pytest.CaptureFixture[str], library: bool) -> None:
    """Neither our own lines nor those of a library's logger show messages, notes, causes' messages or local values."""
    logs.configure("info", "nim")
    try:
        fail_with_secrets()
    except ValueError:
        if library:
            logging.getLogger("some.library").exception("went wrong")
        else:
            logs.logger().exception("went wrong")
    written = capsys.readouterr().err
    assert SECRET not in written
    assert "rd5" not in written
    line = json.loads(written)
    assert line["exception"]["type"] == "builtins.ValueError"
    assert [frame.rpartition(" ")[2] for frame in line["exception"]["frames"]][-1] == "fail_with_secrets"
    assert line["exception"]["after"]["type"] == "builtins.KeyError"


def test_groups_and_circles_of_exceptions_are_described() -> None:
    """Members of a group are described too, and a chain that bites its tail ends."""
    first, second = ValueError(SECRET), TypeError(SECRET)
    first.__context__, second.__context__ = second, first
    described = logs.describe(ExceptionGroup(SECRET, [first, second]))
    assert SECRET not in json.dumps(described)
    assert [member["type"] for member in described["members"]] == ["builtins.ValueError"]
    assert described["members"][0]["after"]["type"] == "builtins.TypeError"


def test_a_very_deep_traceback_is_cut_to_its_innermost_frames() -> None:
    """A recursion's thousand frames make no line of thousands."""

    def dig(depth: int) -> None:
        if depth == 0:
            raise ZeroDivisionError
        dig(depth - 1)

    with pytest.raises(ZeroDivisionError) as raised:
        dig(200)
    frames = logs.describe(raised.value)["frames"]
    assert len(frames) == 40
    assert frames[-1].endswith("dig")


async def test_a_task_that_fails_unseen_is_logged_without_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    """The loop's handler writes asyncio's text and the exception's type and places."""
    logs.configure("info", "nim")
    loop = asyncio.get_running_loop()
    task = loop.create_task(asyncio.sleep(0), name=SECRET)
    await task
    unseen = {"message": f"Task exception was never retrieved\nfuture: {task!r}", "exception": ValueError(SECRET)}
    called = {"message": f"Exception in callback say({SECRET!r})", "exception": ValueError(SECRET)}
    logs.unhandled_in_loop(loop, unseen)
    logs.unhandled_in_loop(loop, called)
    written = capsys.readouterr().err
    assert SECRET not in written
    texts = [json.loads(line)["what"] for line in written.splitlines()]
    assert texts == ["Task exception was never retrieved", "Exception in callback say"]


def test_libraries_speak_from_warning_on(capsys: pytest.CaptureFixture[str]) -> None:
    """At level info a library's info is left out; its warnings come as JSON with the logger's name."""
    logs.configure("info", "nim")
    logging.getLogger("uvicorn.error").info("chatter")
    logging.getLogger("uvicorn.error").warning("port %d", 7)
    (line,) = lines(capsys)
    assert (line["event"], line["level"], line["logger"]) == ("port 7", "warning", "uvicorn.error")


def test_an_announcement_is_written_at_any_level(capsys: pytest.CaptureFixture[str]) -> None:
    """The ready line comes even if only errors are wanted."""
    logs.configure("error", "nim")
    logs.logger().info("unheard")
    logs.announce("ready", grpc_port=1)
    (line,) = lines(capsys)
    assert (line["event"], line["grpc_port"]) == ("ready", 1)
