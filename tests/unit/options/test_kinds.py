"""Text that means a size, a duration, a number, a switch, a choice."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.options import kinds
from lakeward.options.kinds import INT64_MAX, Kind


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10mb", 10 << 20),
        ("10 MB", 10 << 20),
        ("4k", 4096),
        ("1024m", 1 << 30),
        ("1b", 1),
        ("17", 17),
        ("2 gibibytes", 2 << 30),
        ("1tb", 1 << 40),
        ("0", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    """A size is a number with a unit of 1024s; without a unit it is bytes."""
    assert kinds.SIZE.parse(text) == size


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("7 d", 604_800_000),
        ("3min", 180_000),
        ("1000 ms", 1000),
        ("2 Hours", 7_200_000),
        ("5m", 300_000),
        ("1 sec", 1000),
        ("1500 µs", 1),
        ("0 ns", 0),
        (" 3  days ", 259_200_000),
    ],
)
def test_durations(text: str, duration_ms: int) -> None:
    """A duration is a number with a unit, counted in milliseconds."""
    assert kinds.DURATION.parse(text) == duration_ms


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (kinds.SIZE, ""),
        (kinds.SIZE, "-1"),
        (kinds.SIZE, "10 potatoes"),
        (kinds.SIZE, "9999999999 tb"),
        (kinds.SIZE, "mb"),
        (kinds.DURATION, "300"),
        (kinds.DURATION, "-1 d"),
        (kinds.DURATION, "PT3H"),
        (kinds.DURATION, "9223372036854775807 d"),
        (kinds.DURATION, "٣ d"),
        (kinds.INT, "1.5"),
        (kinds.INT, "2147483648"),
        (kinds.INT, "9" * 5000),
        (kinds.INT, ""),
        (kinds.COUNT, "0"),
        (kinds.BOOL, "yes"),
        (kinds.RATIO, "1.5"),
        (kinds.RATIO, "nan"),
        (kinds.MAP, "novalue"),
        (kinds.MAP, "a:1,a:2"),
        (kinds.choice("ARROW", "INDEXED"), "PARQUET"),
    ],
)
def test_what_cannot_be_read_is_a_value_error(kind: Kind[object], text: str) -> None:
    """No kind guesses."""
    with pytest.raises(ValueError, match=r"."):
        kind.parse(text)


def test_choices_and_switches_ignore_case() -> None:
    """The value is the word as declared, however it was written."""
    assert kinds.choice("ARROW", "INDEXED").parse(" indexed ") == "INDEXED"
    assert kinds.BOOL.parse("TRUE") is True
    assert kinds.BOOL.parse("False") is False


def test_lists_and_maps() -> None:
    """Lists are cut at commas and semicolons, maps at commas and colons."""
    assert kinds.LIST.parse("a, b;c,,") == ("a", "b", "c")
    assert kinds.MAP.parse("a:1, b:x:y") == {"a": "1", "b": "x:y"}


@given(st.integers(0, INT64_MAX // 1_000_000))
def test_a_duration_shown_is_read_back(duration_ms: int) -> None:
    """Showing and parsing durations are inverse."""
    assert kinds.DURATION.parse(kinds.DURATION.show(duration_ms)) == duration_ms


@given(st.integers(0, INT64_MAX))
def test_a_size_shown_is_read_back(size: int) -> None:
    """Showing and parsing sizes are inverse."""
    assert kinds.SIZE.parse(kinds.SIZE.show(size)) == size


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text breaks a kind in another way than ValueError."""
    for kind in (kinds.SIZE, kinds.DURATION, kinds.INT, kinds.BOOL, kinds.LIST, kinds.MAP, kinds.RATIO, kinds.TEXT):
        with contextlib.suppress(ValueError):
            kind.parse(text)
