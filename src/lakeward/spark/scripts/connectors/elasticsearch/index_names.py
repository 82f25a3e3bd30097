"""Index names: a text with fields of the row in it, `orders-{day|yyyy-MM}`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import plain_texts
from lakeward.model.data_types import NESTED, DataType, TypeRoot

_FIELD = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")
_TIMES = {TypeRoot.DATE, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
#: What letters of a pattern mean; others stand for themselves.
_LETTERS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "DDD": "%j"}
_TOKEN = re.compile(r"'([^']*)'|([A-Za-z])\2*|.", re.DOTALL)


class IndexNames:
    """The names of indexes for rows of one table."""

    def __init__(self, pattern: str, fields: Sequence[tuple[str, DataType]], owner: str) -> None:
        self._parts: list[str | tuple[int, DataType, str | None]] = []
        names = [name for name, _ in fields]
        last = 0
        for found in _FIELD.finditer(pattern):
            name, form = found[1].strip(), found[2]
            if name not in names:
                raise ErrorCode.INVALID_TABLE.error(
                    f"{owner}: the option 'index' names '{{{found[1]}}}', which is no column; there are"
                    f" {', '.join(names)}."
                )
            at = names.index(name)
            self._check(fields[at], form, owner)
            self._parts += [pattern[last : found.start()], (at, fields[at][1], form and strftime_of(form, owner))]
            last = found.end()
        self._parts.append(pattern[last:])
        if not pattern or re.search(r"[{}]", _FIELD.sub("", pattern)):
            raise ErrorCode.INVALID_TABLE.error(
                f"{owner}: '{pattern}' is not a name of an index; write orders, orders-{{field}} or"
                " orders-{field|yyyy-MM-dd}."
            )

    def of(self, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        """The name for each row; NULL where a field of it is NULL."""
        parts = []
        for part in self._parts:
            if isinstance(part, str):
                parts.append(pa.array([part] * rows, pa.large_string()))
            else:
                at, type_, form = part
                texts = plain_texts(columns[at], type_, JsonSettings()) if form is None else _dates(columns[at], form)
                parts.append(texts.cast(pa.large_string()))
        return pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string()))

    @staticmethod
    def _check(field: tuple[str, DataType], form: str | None, owner: str) -> None:
        name, type_ = field
        if type_.root in NESTED or (form is not None and type_.root not in _TIMES):
            want = "a date or a time" if form is not None else "a single value"
            raise ErrorCode.INVALID_TABLE.error(
                f"{owner}: column '{name}' in the option 'index' must be {want}, and is of type {type_}."
            )


def strftime_of(pattern: str, owner: str) -> str:
    """A pattern of dates (yyyy-MM-dd) as C writes it."""
    found = []
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if token[2] and text not in _LETTERS:
            raise ErrorCode.INVALID_TABLE.error(
                f"{owner}: '{text}' in '{pattern}' is not known; there are {', '.join(_LETTERS)}, and text in quotes."
            )
        found.append(
            _LETTERS.get(text) or (token[1] if text.startswith("'") and len(text) > 1 else text).replace("%", "%%")
        )
    return "".join(found)


def _dates(values: pa.Array, form: str) -> pa.Array:
    seconds = values.cast(pa.timestamp("s"), safe=False) if pa.types.is_date(values.type) else _whole_seconds(values)
    return pc.strftime(seconds, format=form)


def _whole_seconds(values: pa.Array) -> pa.Array:
    """Without fractions, which %S would write."""
    return pc.floor_temporal(values, unit="second").cast(pa.timestamp("s", values.type.tz), safe=False)
