"""`concatenation_faults` lets sound pairs pass and finds a planted fault of each of the five rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.text_format import Parse

from tests.contract.compiled import message_type
from tests.contract.concatenation import concatenation_faults
from tests.contract.conftest import Planting
from tests.contract.rules import own_fields

Judge = Callable[[str, str], list[str]]
"""Faults of a pair of PlayResponses of Nim, each in protobuf's text format."""


@pytest.fixture
def judge(plant: Planting) -> Judge:
    """Reads a public and an own part and judges their concatenation."""
    contracts = plant()
    response = message_type(contracts, "tortuga.nim.v1.PlayResponse")
    kind: type[Message] = GetMessageClass(response)
    own_ones = own_fields(contracts)

    def judged(public: str, own: str) -> list[str]:
        parts = [Parse(text, kind()).SerializeToString() for text in (public, own)]
        return concatenation_faults(response, parts[0], parts[1], own_ones)

    return judged


PUBLIC = "status { state: MATCH_STATE_RUNNING asked { seat: 1 } } update { events { taken { seat: 1 count: 2 } } }"
"""What everyone sees of an update."""

OWN = """
header { match_id: "m" seq: 7 decision: 3 } applied { action_id: "a" seq: 7 }
status { asked { seat: 2 } } update { events { of: 1 bet { on: 1 } } legal { take { count: 1 } } }
"""
"""What a seat sees besides."""


def test_a_sound_pair_passes(judge: Judge) -> None:
    """Own elements after public ones, in lists of messages, at every depth, are as it should be."""
    assert judge(PUBLIC, OWN) == []
    assert judge("", 'header { match_id: "m" seq: 7 } update { legal { take { count: 1 } } }') == []
    assert judge(PUBLIC, "") == []
    assert judge("update { view { stones: 3 taken: [1, 2] } }", "update { view { own_bet { on: 1 } } }") == []


@pytest.mark.parametrize(
    ("found", "public", "own"),
    [
        pytest.param("1: PlayResponse.status.state", PUBLIC, "status { state: MATCH_STATE_ENDED }", id="an enum"),
        pytest.param(
            "1: PlayResponse.update.view.stones",
            "update { view { stones: 3 } }",
            "update { view { stones: 3 } }",
            id="the same number twice",
        ),
        pytest.param("1: PlayResponse.kit.seat", "kit { seat: 0 }", "kit { seat: 0 }", id="a number at its default"),
        pytest.param(
            "2: PlayResponse.update.view.taken",
            "update { view { taken: 1 } }",
            "update { view { taken: 2 } }",
            id="a packed list",
        ),
        pytest.param("3: PlayResponse.update.events", PUBLIC, "update { events { of: 2 } }", id="completes nothing"),
        pytest.param(
            "3: PlayResponse.update.events",
            PUBLIC,
            "update { events { of: 1 bet { on: 1 } } events { of: 1 bet { on: 2 } } }",
            id="two complete one",
        ),
        pytest.param("3: PlayResponse.update.events", "update { events { of: 1 } }", "", id="a public one completes"),
        pytest.param(
            "4: PlayResponse.update.events.bet.on",
            "update { events { bet { seat: 1 on: 2 } } }",
            "",
            id="an own field inside a public element",
        ),
        pytest.param("4: PlayResponse.update.legal", "update { legal { take { count: 1 } } }", "", id="legal to all"),
        pytest.param(
            "4: PlayResponse.update.view.last",
            "update { view { took { seat: 1 } } }",
            "update { view { bet { seat: 1 } } }",
            id="another choice of a oneof",
        ),
        pytest.param(
            "4: PlayResponse.update.view.last",
            "update { view { bet { seat: 1 } } }",
            "update { view { bet { on: 1 } } }",
            id="the same choice of a oneof",
        ),
        pytest.param(
            "4: PlayResponse.update.view.heaps",
            'update { view { heaps { key: 1 value: "a" } } }',
            'update { view { heaps { key: 2 value: "b" } } }',
            id="a map",
        ),
        pytest.param("5: PlayResponse", "header { seq: 1 }", "header { time_ms: 5 }", id="two headers"),
        pytest.param("5: PlayResponse", "header { seq: 1 }", "", id="a public header"),
    ],
)
def test_a_planted_fault_is_found(found: str, public: str, own: str, judge: Judge) -> None:
    """A pair that breaks a rule is reported under the rule's number and the field's path."""
    assert any(fault.startswith(found) for fault in judge(public, own))


def test_two_concatenated_updates_are_found(plant: Planting) -> None:
    """Rule 5 also sees two updates inside the own part, where protobuf would merge them silently."""
    response = message_type(plant(), "tortuga.nim.v1.PlayResponse")
    update = Parse("header { seq: 7 } update { events { taken { seat: 1 } } }", GetMessageClass(response)())
    twice = update.SerializeToString() * 2
    assert [fault[0] for fault in concatenation_faults(response, b"", twice)] == ["5"]


def test_an_explicit_default_is_found(plant: Planting) -> None:
    """A zero on the wire would overwrite the public number, though the parsed own part does not show it."""
    view = message_type(plant(), "tortuga.nim.v1.View")
    three, zero = b"\x08\x03", b"\x08\x00"
    assert {fault[0] for fault in concatenation_faults(view, three, zero)} == {"0", "1"}


def test_what_the_descriptor_does_not_know_is_found(plant: Planting) -> None:
    """A field that the contract lacks is a fault in either part."""
    view = message_type(plant(), "tortuga.nim.v1.View")
    stray = b"\x98\x06\x01"  # field 99
    assert {fault[0] for fault in concatenation_faults(view, stray, b"")} == {"0"}
    assert {fault[0] for fault in concatenation_faults(view, b"", stray)} == {"0"}
