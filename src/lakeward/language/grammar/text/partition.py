"""PARTITION (key = value, …)."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader


def read_partition(reader: Reader) -> tuple[tuple[str, str], ...]:
    """Keys and values; a value may be a text, a number, TRUE, FALSE or a date, and is kept as text."""
    reader.expect("PARTITION (")
    values: list[tuple[str, str]] = []
    while True:
        key = reader.name("a partition key")
        reader.expect("=", f" after {key}")
        values.append((key, _read_value(reader, key)))
        if reader.take(")"):
            return tuple(values)
        if not reader.take(","):
            reader.refuse(f"expected ')' or ',' after the value of {key}, found {reader.next_label}.")


def _read_value(reader: Reader, key: str) -> str:
    if reader.key in {"DATE", "TIMESTAMP"}:
        reader.at += 1
    token = reader.token
    if token is not None and (token.kind == "number" or token.key in {"TRUE", "FALSE"}):
        reader.at += 1
        return token.text.lower()
    return reader.string(f"the value of {key}")
