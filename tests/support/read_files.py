"""Reading a file as `append` does, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeward.cli.files.bad_row import BadRowError
from lakeward.cli.files.formats import RowFile
from lakeward.cli.files.source import Source
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns


def schema_of(text: str) -> Schema:
    """A schema as people write it."""
    return Schema.of(parse_columns(text)[0])


def source_of(directory: Path, name: str, content: str | bytes) -> Source:
    """A file with that content, opened."""
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(str(path))


def rows_of(file: RowFile, columns: str) -> tuple[list[dict[str, Any]], str | None]:
    """The rows before the first bad one, and what is said about that one."""
    rows: list[dict[str, Any]] = []
    try:
        for batch in file.batches(schema_of(columns)):
            rows += batch.to_pylist()
    except BadRowError as wrong:
        return rows, wrong.message.rpartition("/")[2]
    return rows, None
