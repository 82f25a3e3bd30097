"""Rows as CSV."""

from __future__ import annotations

import csv
import io

import pyarrow as pa

from lakeward.console.pages.ask.csv_rows import csv_lines


def test_other_programs_read_what_was_in_the_rows() -> None:
    """Commas, quotes, lines and blanks; NULL is empty and an empty text is quoted."""
    texts = ["plain", "a,b", 'say "x"', "two\nlines", " blank ", "", None]
    text = "".join(csv_lines(pa.table({"a b": texts, "n": list(range(7))})))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["a b", "n"], *([t or "", str(n)] for n, t in enumerate(texts))]
    assert text.endswith('"",5\r\n,6\r\n')


def test_many_rows_come_in_pieces() -> None:
    """No file is in memory as one text."""
    assert len(list(csv_lines(pa.table({"n": list(range(2500))})))) == 4
