"""TableForm: what was typed for a new table → what the client takes, or what is wrong with each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from lakeward.client.forms.schema_forms import schema_of
from lakeward.errors import LakewardError
from lakeward.model import names
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor
from lakeward.options.table import TABLE_OPTIONS

T = TypeVar("T")
FIELDS = ("name", "columns", "primary_key", "partition_by", "bucket_by", "buckets", "properties", "comment")
_BUCKETS_MAX = 1_000_000
#: The begin of a sentence of the model → the field that it is about.
_BLAME = {"Partition key": "partition_by", "Bucket key": "bucket_by", "The primary key": "primary_key"}


@dataclass(slots=True)
class TableForm:
    """A form that was read: what to create, unless there are errors, by field."""

    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def read_table_form(typed: Mapping[str, str]) -> TableForm:
    """Read every field, and then whether they fit together; each error stands with its field."""
    form = TableForm(name=typed["name"].strip())
    _try(form, "name", lambda: names.check_table(form.name))
    primary_key = names_in(typed["primary_key"])
    schema = _schema(form, typed["columns"], primary_key)
    rest = {
        "partition_by": names_in(typed["partition_by"]),
        "bucket_by": names_in(typed["bucket_by"]),
        "buckets": _bucket_count(form, typed["buckets"].strip()),
        "properties": _properties(form, typed["properties"]),
        "comment": typed["comment"].strip() or None,
    }
    if schema is not None and not form.errors:
        _check_together(form, schema, rest)
    form.arguments = {"schema": schema, **rest}
    return form


def _schema(form: TableForm, text: str, primary_key: tuple[str, ...]) -> Schema | None:
    if not text.strip():
        form.errors["columns"] = "Type at least one column, such as: id BIGINT, name STRING"
        return None
    without_key = _try(form, "columns", lambda: schema_of(text))
    if without_key is None:
        return None
    missing = [name for name in primary_key if name not in without_key.names]
    if missing:
        form.errors["primary_key"] = f"'{missing[0]}' is none of the columns."
        return None
    return _try(form, "primary_key", lambda: schema_of(text, primary_key))


def _bucket_count(form: TableForm, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= _BUCKETS_MAX):
        form.errors["buckets"] = "Type a whole number, 1 or more, or leave it empty."
        return None
    return int(text)


def _properties(form: TableForm, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key:
            form.errors["properties"] = f"'{line[:80]}' is not of the form key=value."
        elif key in found:
            form.errors["properties"] = f"'{key[:80]}' is given twice."
        else:
            found[key] = value
            _try(form, "properties", partial(check_property, key, value))
    return found


def check_property(key: str, value: str) -> None:
    """Refuse a value that cannot be read, and a name of ours that nobody declared; the server knows the rest."""
    option = TABLE_OPTIONS.rows.get(TABLE_OPTIONS.canonical_key(key))
    if option is not None:
        option.parse(TABLE_OPTIONS.canonical(key, value)[1])
    elif not TABLE_OPTIONS.is_open(key):
        raise TABLE_OPTIONS.unknown(key)


def _check_together(form: TableForm, schema: Schema, rest: Mapping[str, Any]) -> None:
    try:
        TableDescriptor(schema, rest["partition_by"], rest["bucket_by"], rest["buckets"]).normalize()
    except LakewardError as wrong:
        blamed = next((name for begin, name in _BLAME.items() if wrong.message.startswith(begin)), "columns")
        form.errors[blamed] = wrong.message


def names_in(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _try(form: TableForm, blamed: str, read: Callable[[], T]) -> T | None:
    try:
        return read()
    except LakewardError as wrong:
        form.errors[blamed] = wrong.message
        return None
