"""Messages behave as frozen dataclasses with slots do."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from lakeward.protocol.codec.declare import f, i32, message


@message
class Pair:
    """Two numbers."""

    left: i32 = f(1)
    right: i32 | None = f(2, default=None)


@message
class Nothing:
    """No fields."""


def test_a_message_is_made_by_names_and_shows_them() -> None:
    """Fields are given by name; those with a default may be left out, the others not."""
    assert Pair(left=1) == Pair(left=1, right=None)
    assert repr(Pair(left=1, right=2)) == "Pair(left=1, right=2)"
    assert Nothing() == Nothing()
    with pytest.raises(TypeError, match="left"):
        Pair()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Pair(1)  # type: ignore[call-arg]


def test_equal_messages_have_one_hash_and_others_are_not_equal() -> None:
    """What is compared are the class and the values."""
    assert hash(Pair(left=1)) == hash(Pair(left=1))
    assert Pair(left=1) != Pair(left=2)
    assert Pair(left=1) != Nothing()  # type: ignore[comparison-overlap]


def test_a_message_does_not_change() -> None:
    """No field is set or deleted, and no other can be added."""
    pair = Pair(left=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.left = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del pair.left
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.other = 2  # type: ignore[attr-defined]
    assert not hasattr(pair, "__dict__")


def test_a_message_is_replaced_copied_and_pickled() -> None:
    """The functions that know dataclasses know it."""
    pair = Pair(left=1, right=2)
    assert dataclasses.replace(pair, left=3) == Pair(left=3, right=2)
    assert dataclasses.asdict(pair) == {"left": 1, "right": 2}
    assert copy.deepcopy(pair) == pickle.loads(pickle.dumps(pair)) == pair
