"""What a field's metadata says beyond Spark's type: the keys, and the types put back together from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lakeward.model.data_types import DataType, RowField, TypeRoot

CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
COLLATION_KEY = "__COLLATIONS"
TYPE_KEY = "fluss.type"

_SQL_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_TEXT_LEAVES = re.compile(r"(`(?:[^`]|``)*`|[^\s<>,:`()]+)\s*:|\b(char|varchar)\((\d+)\)|\b(string)\b")


def holds_char(type_: DataType) -> bool:
    """Whether CHAR is in a type anywhere."""
    parts = [type_.element, type_.key, type_.value, *(f.type for f in type_.fields)]
    return type_.root is TypeRoot.CHAR or any(holds_char(p) for p in parts if p is not None)


def catalog_text(form: str | Mapping[str, Any]) -> str:
    """A type in Spark's JSON as Spark's SQL writes it inside metadata."""
    if isinstance(form, str):
        return _SQL_NAMES.get(form, form)
    if form["type"] == "array":
        return f"array<{catalog_text(form['elementType'])}>"
    if form["type"] == "map":
        return f"map<{catalog_text(form['keyType'])},{catalog_text(form['valueType'])}>"
    parts = (f"`{f['name'].replace('`', '``')}`:{catalog_text(f['type'])}" for f in form["fields"])
    return f"struct<{','.join(parts)}>"


def with_chars(type_: DataType, text: str | None) -> DataType:
    """The type with the CHARs put back that Spark moved into metadata: texts come in the same order in both."""
    if not text:
        return type_
    leaves = [m for m in _TEXT_LEAVES.finditer(text) if m[1] is None]
    return _replace_texts(type_, iter([int(m[3]) if m[2] == "char" else None for m in leaves]))


def _replace_texts(type_: DataType, lengths: Iterator[int | None]) -> DataType:
    if type_.root in {TypeRoot.STRING, TypeRoot.CHAR}:
        length = next(lengths, None)
        return type_ if length is None else DataType(TypeRoot.CHAR, type_.nullable, length=length)
    return _with_parts(type_, lambda part: _replace_texts(part, lengths))


def bare(type_: DataType) -> DataType:
    """The type without NOT NULL at the top, field ids and comments: what `fluss.type` says."""
    made = _with_parts(type_, lambda part: replace(bare(part), nullable=part.nullable))
    return replace(made, nullable=True, fields=tuple(RowField(f.name, f.type) for f in made.fields))


def copy_comments(type_: DataType, other: DataType) -> DataType:
    """The type with the comments of the other, which has the same shape."""
    comments = iter(_comments(other))
    return _take_comments(type_, comments)


def _comments(type_: DataType) -> Iterator[str | None]:
    for part in (type_.element, type_.key, type_.value):
        if part is not None:
            yield from _comments(part)
    for field in type_.fields:
        yield from _comments(field.type)
    yield from (f.description for f in type_.fields)


def _take_comments(type_: DataType, comments: Iterator[str | None]) -> DataType:
    made = _with_parts(type_, lambda part: _take_comments(part, comments))
    return replace(made, fields=tuple(RowField(f.name, f.type, next(comments)) for f in made.fields))


def _with_parts(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    return replace(
        type_,
        element=None if type_.element is None else change(type_.element),
        key=None if type_.key is None else change(type_.key),
        value=None if type_.value is None else change(type_.value),
        fields=tuple(replace(f, type=change(f.type)) for f in type_.fields),
    )
