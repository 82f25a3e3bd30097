"""A view that changes as rows come."""

from __future__ import annotations

import click
import pyarrow as pa
import pytest

from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.cli.commands.scripts.shell.keys import HeldKeys
from lakeward.cli.commands.scripts.shell.live_view import LiveView
from lakeward.language.changes import CHANGE_TYPE
from lakeward.spark.scripts.state.live_rows import LiveRows

_SCHEMA = pa.schema([("item", pa.string()), ("n", pa.int64())])


def changes(*rows: tuple[str, str, int]) -> pa.Table:
    """A micro-batch."""
    kinds, items, numbers = zip(*rows, strict=True)
    return pa.table({CHANGE_TYPE: list(kinds), "item": list(items), "n": pa.array(numbers, pa.int64())})


@pytest.fixture(autouse=True)
def _small_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "8")


def shown(view: LiveView) -> list[str]:
    """What is on the screen, without colours."""
    return [click.unstyle(line).rstrip() for line in view.lines()]


def test_rows_are_shown_by_key_as_they_are_now() -> None:
    """One that changed stands where it stood; one that is gone is gone."""
    live = LiveRows(_SCHEMA, ["item"], has_changes=True)
    view = LiveView(live, Interrupts(), HeldKeys(), "table")
    assert shown(view)[1:] == ["Waiting for rows …"]
    live.add(changes(("insert", "boots", 1), ("insert", "tent", 2)))
    assert shown(view)[1:] == ["item   n", "boots  1", "tent   2"]
    live.add(changes(("update_before", "boots", 1), ("update_after", "boots", 11), ("delete", "tent", 2)))
    head, *table = shown(view)
    assert table == ["item    n", "boots  11"]
    assert head.startswith(" 1 row   5 changes")


def test_as_many_rows_as_fit_are_shown() -> None:
    """The last ones, and how many there are in all; no line is wider than the window."""
    live = LiveRows(_SCHEMA, None, has_changes=False)
    view = LiveView(live, Interrupts(), HeldKeys(), "table")
    live.add(pa.table({"item": ["x" * 100] * 1000, "n": list(range(1000))}))
    head, title, *table = shown(view)
    assert "1,000 rows (the last 5)" in head
    assert title.split() == ["item", "n"]
    assert [line.split()[-1] for line in table] == ["995", "996", "997", "998", "999"]
    assert max(map(len, [head, title, *table])) <= 60
