"""The live files that a manifest names: what every plan needs at once, the rest of what it says when asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from lakeward.lake.iceberg.read.avro_file import AvroFile, Read, UnknownAvroError, reader_of

_DELETED = 2
#: Where a plan stops to read.
_LAST = "file_size_in_bytes"
DATA, POSITION_DELETES = 0, 1


class ManifestEntry:
    """A live file of a manifest."""

    __slots__ = ("_at", "_block", "_rest", "bytes", "content", "partition", "path", "rows", "sequence_number")

    def __init__(self, told: Mapping[str, Any], sequence_number: int, rest: Read, block: bytes, at: int) -> None:
        self.content: int = told.get("content", DATA)
        self.path: str = told["file_path"]
        self.rows: int = told["record_count"]
        self.bytes: int = told[_LAST]
        self.partition: tuple[Any, ...] = tuple(told["partition"].values())
        self.sequence_number = sequence_number
        self._rest, self._block, self._at = rest, block, at

    @property
    def statistics(self) -> Mapping[str, Any]:
        """The other fields of the file: bounds and counts by field id, and what deletes are about."""
        found: Mapping[str, Any] = self._rest(self._block, self._at)[0]
        return found


def read_entries(data: bytes, sequence_number: int) -> tuple[ManifestEntry, ...]:
    """The live files of a manifest; entries without a sequence number of their own have the manifest's.

    UnknownAvroError if it is written in a way that is not read here.
    """
    file = AvroFile(data)
    before, prefix, rest = _layout(file.metadata["avro.schema"])
    found = []
    for count, block in file.blocks():
        at = 0
        for number in range(count):
            head, at = before(block, at)
            told, at = prefix(block, at)
            if head["status"] != _DELETED:
                own = head.get("sequence_number")
                found.append(ManifestEntry(told, sequence_number if own is None else own, rest, block, at))
            if number < count - 1:  # what comes last is not looked at before somebody asks
                _, at = rest(block, at)
    return tuple(found)


@cache
def _layout(schema: bytes) -> tuple[Read, Read, Read]:
    """How to read an entry up to its file, the file as far as every plan needs it, and the rest of the file."""
    fields: list[dict[str, Any]] = json.loads(schema)["fields"]
    *before, last = fields
    if last["name"] != "data_file" or not isinstance(last["type"], dict):
        raise UnknownAvroError("an entry that does not end with its file")
    own: list[dict[str, Any]] = last["type"]["fields"]
    names = [field["name"] for field in own]
    if _LAST not in names or not {"file_path", "partition", "record_count"} <= set(names[: names.index(_LAST)]):
        raise UnknownAvroError("fields of a file in another order")
    stop = names.index(_LAST) + 1
    head, prefix, rest = (reader_of({"type": "record", "fields": part}) for part in (before, own[:stop], own[stop:]))
    return head, prefix, rest
