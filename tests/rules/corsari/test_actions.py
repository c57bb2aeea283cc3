"""Text forms: what the log, the playthroughs and the terminal write reads back, and nothing else is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.corsari.actions import SIMPLE, partition_into, sail_with
from services.corsari.cards import COUNT, NAMES, card_named
from services.corsari.rules import RULES
from services.kit.rules import InvalidAction

card_lists = st.lists(st.integers(0, COUNT - 1), max_size=13).map(bytes)


def test_cards_are_numbered_as_the_dossier_says() -> None:
    """R1: id = 11 * colour + number - 1, colours pk vi bl az gy br rd or ye gn."""
    assert len(NAMES) == len(set(NAMES)) == COUNT == 110
    assert (NAMES[0], NAMES[10], NAMES[11], NAMES[74], NAMES[109]) == ("pk1", "pk11", "vi1", "rd9", "gn11")
    assert [card_named(name) for name in NAMES] == list(range(COUNT))


def test_there_are_the_forms_of_the_contract() -> None:
    """Three draws, a hundred and ten discards of three kinds, two partitions, each once."""
    forms = [str(action) for action in SIMPLE]
    assert len(forms) == len(set(forms)) == 3 + 3 * 110 + 2
    assert {"draw stock", "discard rd5", "discard rd5 sail auto", "discard rd5 sail crew="} <= set(forms)
    assert {"partition auto", "partition crew= attach="} <= set(forms)


def test_simple_actions_read_back() -> None:
    """`parse(str(a)) == a`."""
    assert [RULES.parse(str(action)) for action in SIMPLE] == list(SIMPLE)


@given(st.integers(0, COUNT - 1), card_lists, card_lists)
def test_lists_read_back_in_ascending_order(card: int, crew: bytes, attach: bytes) -> None:
    """Any lists, cards named twice included (K2)."""
    for action in (sail_with(card, crew), partition_into(crew, attach)):
        form = str(action)
        assert RULES.parse(form) == action
        assert str(RULES.parse(form)) == form


def test_lists_may_be_typed_in_any_order() -> None:
    """The text that is kept is ascending."""
    assert str(RULES.parse("discard rd5 sail crew=gn2,rd1,gn2")) == "discard rd5 sail crew=rd1,gn2,gn2"
    assert str(RULES.parse("partition crew=gn2,pk1 attach=")) == "partition crew=pk1,gn2 attach="


@pytest.mark.parametrize(
    "form",
    [
        "",
        "draw",
        "draw Stock",
        "draw stock ",
        " draw stock",
        "draw hand",
        "discard",
        "discard rd0",
        "discard rd12",
        "discard xx1",
        "discard rd5 sail",
        "discard rd5 sail crew",
        "discard rd5 sail crew=,",
        "discard rd5 sail crew=rd1,",
        "discard rd5 sail crew=rd1 ",
        "discard rd5  sail auto",
        "discard rd5 sail auto crew=rd1",
        "discard rd5 sail crew=" + ",".join(["rd1"] * 14),
        "discard rd5 attach=rd1",
        "discard rd05",
        "partition",
        "partition crew=rd1",
        "partition attach=rd1 crew=rd1",
        "partition crew=rd1 attach=rd",
        "partition auto attach=",
        "@resign",
        "discard rd5\n",
    ],
)
def test_anything_else_is_unreadable(form: str) -> None:
    """UNREADABLE, and nothing else is raised."""
    with pytest.raises(InvalidAction) as refusal:
        RULES.parse(form)
    assert refusal.value.reason == "UNREADABLE"


@given(st.text(max_size=30))
def test_any_text_is_an_action_or_unreadable(form: str) -> None:
    """No other error."""
    try:
        action = RULES.parse(form)
    except InvalidAction:
        return
    assert str(action)
