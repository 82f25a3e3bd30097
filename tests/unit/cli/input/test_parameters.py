"""What people write on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import click
import pytest

from lakeward.cli.input.key_values import key_values
from lakeward.cli.input.parameters import Place, names
from lakeward.runtime.clock import ManualClock

_CONTEXT = click.Context(click.Command("c"))
_OPTION = click.Option(["-p"])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("0", 0),
        ("1234", 1234),
        ("2026-08-01T12:00:00Z", datetime(2026, 8, 1, 12, tzinfo=UTC)),
        ("2026-08-01 12:00:00+02:00", datetime(2026, 8, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_place_is_a_word_an_offset_or_a_time(text: str, place: object) -> None:
    """Each way to say where to begin is understood."""
    assert Place().convert(text, None, None) == place


def test_a_time_without_a_zone_is_local() -> None:
    """People write the time on their wall."""
    clock = ManualClock(zone=timezone(timedelta(hours=2)))
    assert Place(clock=clock).convert("2026-08-01 12:00", None, None) == datetime(2026, 8, 1, 10, tzinfo=UTC)


def test_a_time_can_be_a_while_ago() -> None:
    """`15m-ago` counts back from now."""
    clock = ManualClock(now_ms=1_700_000_000_000)
    now = datetime.fromtimestamp(1_700_000_000, UTC)
    assert Place(clock=clock).convert("15m-ago", None, None) == now - timedelta(minutes=15)
    assert Place(clock=clock).convert("2d ago", None, None) == now - timedelta(days=2)


@pytest.mark.parametrize("text", ["yesterday", "-5", "12:00", "5 minutes", ""])
def test_what_is_no_place_is_refused(text: str) -> None:
    """A refusal shows what could have been written."""
    with pytest.raises(click.BadParameter, match="earliest, latest, an offset, a time such as"):
        Place().convert(text, None, None)


def test_an_offset_is_no_time() -> None:
    """Where only times make sense, a number is refused."""
    with pytest.raises(click.BadParameter):
        Place(offsets=False).convert("5", None, None)


def test_key_values_are_split_at_the_first_equals_sign() -> None:
    """A value may hold equals signs, and be empty."""
    assert key_values(_CONTEXT, _OPTION, ["a=1", "b = x=y ", "c="]) == {"a": "1", "b": "x=y", "c": ""}


@pytest.mark.parametrize(
    ("given", "told"), [(["a"], "'a' is not KEY=VALUE"), (["=1"], "not KEY"), (["a=1", "a=2"], "twice")]
)
def test_other_things_than_key_value_are_refused(given: list[str], told: str) -> None:
    """A typing mistake is a usage error, not a strange property."""
    with pytest.raises(click.BadParameter, match=told):
        key_values(_CONTEXT, _OPTION, given)


def test_names_are_separated_by_commas() -> None:
    """Lists of columns are written a,b."""
    assert names(_CONTEXT, _OPTION, "a, b,c") == ("a", "b", "c")
    assert names(_CONTEXT, _OPTION, None) == ()
    with pytest.raises(click.BadParameter):
        names(_CONTEXT, _OPTION, "a,,b")
