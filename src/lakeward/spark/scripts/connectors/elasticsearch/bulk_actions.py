"""Rows → actions of a bulk request: a line that says what to do, and the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.json.json_encoder import JsonEncoder
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import escape, plain_texts
from lakeward.language.changes import CHANGE_TYPE
from lakeward.model.schema import Schema
from lakeward.spark.scripts.connectors.elasticsearch.index_names import IndexNames

_DELETE, _BEFORE = "delete", "update_before"


@dataclass(frozen=True, slots=True)
class Action:
    """One change of one document; `body` is its lines."""

    index: str | None
    id: str | None
    is_delete: bool
    body: bytes

    @property
    def document(self) -> str | None:
        """The document, of what is none of a delete."""
        return None if self.is_delete else self.body.split(b"\n", 2)[1].decode()


class BulkActions:
    """Makes actions of rows of one table."""

    def __init__(self, schema: Schema, indexes: IndexNames, delimiter: str) -> None:
        self._schema = schema
        self._indexes = indexes
        self._delimiter = delimiter
        self._encoder = JsonEncoder(schema, JsonSettings(is_iso=True))

    def of(self, batch: pa.RecordBatch) -> list[Action]:
        """The actions of a batch, in its order; what was before an update is none."""
        if CHANGE_TYPE in batch.schema.names:
            batch = batch.filter(pc.not_equal(batch.column(CHANGE_TYPE), _BEFORE))
        rows = batch.select(self._schema.names)
        indexes = self._indexes.of(rows.columns, rows.num_rows)
        ids = self._ids(rows)
        heads = self._heads(indexes, ids, rows.num_rows)
        documents = self._encoder.encode(rows)
        deletes = [False] * rows.num_rows
        if CHANGE_TYPE in batch.schema.names:
            deletes = pc.equal(batch.column(CHANGE_TYPE), _DELETE).to_pylist()
        columns = zip(indexes.to_pylist(), ids.to_pylist(), deletes, heads, documents, strict=True)
        return [
            Action(index, id_, is_delete, _body(head, None if is_delete else document))
            for index, id_, is_delete, head, document in columns
        ]

    def _ids(self, rows: pa.RecordBatch) -> pa.Array:
        key = self._schema.primary_key
        if not key:
            return pa.nulls(rows.num_rows, pa.large_string())
        iso = JsonSettings(is_iso=True)
        texts = [plain_texts(rows.column(name), self._schema.column(name).type, iso) for name in key]
        return pc.binary_join_element_wise(*texts, pa.scalar(self._delimiter, pa.large_string()))

    def _heads(self, indexes: pa.Array, ids: pa.Array, count: int) -> list[bytes]:
        """What stands in an action beside its kind."""
        texts = [pa.array(['{"_index":"'] * count, pa.large_string()), escape(pc.fill_null(indexes, ""))]
        if self._schema.primary_key:
            texts += [pa.scalar('","_id":"', pa.large_string()), escape(ids)]
        whole = pc.binary_join_element_wise(
            *texts, pa.scalar('"}', pa.large_string()), pa.scalar("", pa.large_string())
        )
        heads: list[bytes] = whole.cast(pa.large_binary()).to_pylist()
        return heads


def _body(head: bytes, document: bytes | None) -> bytes:
    if document is None:
        return b'{"delete":' + head + b"}\n"
    return b'{"index":' + head + b"}\n" + document + b"\n"


def requests_of(actions: Sequence[Action], max_actions: int, max_bytes: int) -> Iterator[list[Action]]:
    """Actions in groups that fit into a request. Of a document that changes twice in one, the last change is left:
    where a server takes one and wants the other again, the older could come last."""
    group: dict[object, Action] = {}
    size = 0
    for number, action in enumerate(actions):
        if group and (len(group) >= max_actions or size + len(action.body) > max_bytes):
            yield list(group.values())
            group, size = {}, 0
        key = number if action.id is None else (action.index, action.id)
        group.pop(key, None)
        group[key] = action
        size += len(action.body)
    if group:
        yield list(group.values())
