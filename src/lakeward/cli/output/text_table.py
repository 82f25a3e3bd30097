"""TextTable: columns of text side by side, row after row, as wide as the terminal allows.

Rows may come for ever (`tail`), so widths are settled with the first rows; a wider value later widens its column, and
the header is written again. On a terminal long values are cut with `…`, and rows that would not fit even so are written
as records, a line per column; into a pipe everything is written in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TextIO

import click

from lakeward.cli.output.plain_text import has_colours, one_line

NULL_TEXT = "NULL"
_GAP = "  "
_NARROWEST = 8


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column's title. Numbers stand to the right; texts are the first to be cut where room is short.

    `width` is kept free, if there is room, even when the first values need less.
    """

    title: str
    is_number: bool = False
    is_text: bool = False
    width: int = 0


class TextTable:
    """Writes rows under one header."""

    def __init__(
        self, columns: Sequence[TableColumn], out: TextIO, width: int | None = None, page_rows: int | None = None
    ) -> None:
        """`width` is that of the terminal; None means that nothing is cut. The header is repeated on each page."""
        self._columns = [replace(column, title=one_line(column.title)) for column in columns]
        self._out = out
        self._width = width
        self._needed = [cell_width(c.title) for c in self._columns]
        self._widths: list[int] = []
        self._is_fancy = width is not None and has_colours()
        self._page_rows = page_rows
        self._rows_under_header = 0

    def write(self, rows: Sequence[Sequence[str | None]]) -> None:
        """Write some rows; None is NULL."""
        shown = [[NULL_TEXT if cell is None else one_line(cell) for cell in row] for row in rows]
        for i in range(len(self._columns)):
            widest = max((cell_width(row[i]) for row in shown), default=0)
            if widest > max(self._needed[i], self._columns[i].width):
                # Later rows that need more room will need still more; a header for each step would be a nuisance.
                self._needed[i] = widest + widest // 4 if self._widths else widest
            self._needed[i] = max(self._needed[i], widest)
        widths = self._fit()
        if self._width is not None and _line_width(widths) > self._width:
            self._write_records(shown)
            return
        if widths != self._widths:
            self._widths = widths
            self._header()
        for row, raw in zip(shown, rows, strict=True):
            if self._rows_under_header == self._page_rows:
                self._header()
            self._rows_under_header += 1
            cells = [self._cell(i, text, is_null=raw[i] is None) for i, text in enumerate(row)]
            self._out.write(_GAP.join(cells).rstrip() + "\n")
        self._out.flush()

    def _write_records(self, rows: Sequence[Sequence[str]]) -> None:
        assert self._width is not None
        titles = max(cell_width(c.title) for c in self._columns)
        room = max(self._width - titles - len(_GAP), _NARROWEST)
        for row in rows:
            self._out.write(self._style("─" * self._width, dim=True) + "\n")
            for column, text in zip(self._columns, row, strict=True):
                title = column.title + " " * (titles - cell_width(column.title))
                self._out.write(f"{self._style(title, bold=True)}{_GAP}{shorten(text, room)}\n")
        self._out.flush()

    def _fit(self) -> list[int]:
        wanted = [max(need, c.width) for need, c in zip(self._needed, self._columns, strict=True)]
        if self._width is None or _line_width(wanted) <= self._width:
            return wanted
        floors = [
            min(need, _NARROWEST) if c.is_text else need for need, c in zip(self._needed, self._columns, strict=True)
        ]
        return fit_widths(self._needed, self._width, floors)

    def _header(self) -> None:
        titles = [self._align(i, c.title) for i, c in enumerate(self._columns)]
        line = _GAP.join(titles).rstrip()
        self._rows_under_header = 0
        self._out.write(self._style(line, bold=True) + "\n")

    def _cell(self, i: int, text: str, *, is_null: bool) -> str:
        aligned = self._align(i, text)
        return self._style(aligned, dim=True) if is_null else aligned

    def _style(self, text: str, **how: bool) -> str:
        return click.style(text, **how) if self._is_fancy else text

    def _align(self, i: int, text: str) -> str:
        cut = shorten(text, self._widths[i])
        pad = " " * (self._widths[i] - cell_width(cut))
        return pad + cut if self._columns[i].is_number else cut + pad


def fit_widths(needed: Sequence[int], width: int, floors: Sequence[int]) -> list[int]:
    """Column widths that fit a line if they can: the widest columns give way first, none below its floor."""
    widths = list(needed)
    while _line_width(widths) > width:
        shrinkable = [i for i, floor in enumerate(floors) if widths[i] > floor]
        if not shrinkable:
            break
        widths[max(shrinkable, key=lambda i: widths[i])] -= 1
    return widths


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def cell_width(text: str) -> int:
    """How many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shorten(text: str, width: int) -> str:
    """The text, cut with `…` where it is longer than `width`."""
    if cell_width(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1] + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"
