"""Which reader a file needs: by its name, or as told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

import click

from lakeward.cli.files.source import STDIN, Source, unpacked_name

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.model.schema import Schema

FORMATS = ("csv", "tsv", "json", "parquet", "arrow")
_FORMAT_OF_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


class RowFile(Protocol):
    """Rows to be read once."""

    def progress(self) -> float | None:
        """The share that was read, from 0 to 1; None when it is not known."""
        ...

    def inferred_schema(self) -> pa.Schema:
        """Names and types of the file, found or guessed; rows stay to be read."""
        ...

    def batches(self, schema: Schema) -> Iterator[pa.RecordBatch]:
        """The rows as a table wants them; ends with BadRowError at the first that does not fit."""
        ...


def format_of(path: str, told: str | None = None) -> str:
    """The format of a file."""
    if told is not None:
        return told
    if path == STDIN:
        raise click.UsageError("Say how to read stdin: --format csv, tsv, json, parquet or arrow.")
    ending = PurePath(unpacked_name(path)).suffix.lower()
    if ending not in _FORMAT_OF_ENDING:
        known = ", ".join(_FORMAT_OF_ENDING)
        raise click.UsageError(f"{path}: the name does not tell the format (known: {known}); give --format.")
    return _FORMAT_OF_ENDING[ending]


def open_rows(path: str, told: str | None = None, *, delimiter: str | None = None, has_header: bool = True) -> RowFile:
    """Open a file, or stdin by `-`, to read its rows."""
    kind = format_of(path, told)
    if kind in {"csv", "tsv"}:
        from lakeward.cli.files.csv_file import CsvFile

        return CsvFile(Source(path), delimiter=delimiter or ("\t" if kind == "tsv" else ","), has_header=has_header)
    if kind == "json":
        from lakeward.cli.files.json_file import JsonFile

        return JsonFile(Source(path))
    from lakeward.cli.files.arrow_file import ArrowFile

    return ArrowFile(path, kind)
