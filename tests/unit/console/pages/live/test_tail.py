"""Rows of a scan as documents for a page; the way there is in tests/console."""

from __future__ import annotations

import pyarrow as pa

from lakeward.console.pages.live.tail import in_words, newest_that_fit, with_signs


def test_changes_have_words_for_conditions_and_signs_for_people() -> None:
    """Conditions use the words that Spark and Flink know."""
    batch = pa.record_batch({"id": [1, 2, 3, 4], "_change_type": ["+I", "-U", "+U", "-D"]})
    words = in_words(batch)
    assert words.column("_change_type").to_pylist() == ["insert", "update_before", "update_after", "delete"]
    signs = with_signs(words).column("_change_type").to_pylist()
    assert signs == ["+I insert", "-U update before", "+U update after", "-D delete"]


def test_rows_without_changes_stay_as_they_are() -> None:
    """Those of a log table, whose only change is to be appended."""
    batch = pa.record_batch({"id": [1]})
    assert with_signs(batch) is batch


def test_a_document_holds_the_newest_rows_that_fit() -> None:
    """Counted in characters, of long values too."""
    rows = [["aaaa"], ["bb", None], [["c", "cccc"]]]
    assert newest_that_fit(rows, 100) == 3
    assert newest_that_fit(rows, 8) == 2
    assert newest_that_fit(rows, 5) == 1
    assert newest_that_fit(rows, 1) == 0
