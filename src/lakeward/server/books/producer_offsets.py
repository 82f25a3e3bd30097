"""ProducerOffsets: where a producer's writes began, so that it can undo them after a failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.model import names
from lakeward.model.bucket import TableBucket
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "producer-offsets"


@dataclass(frozen=True)
class RegisteredOffsets:
    """What a producer registered, and until when it counts. An offset may be unknown."""

    producer_id: str
    expires_ms: int
    offsets: Mapping[TableBucket, int | None]


class ProducerOffsets:
    """Offsets by producer, kept in the metadata store."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    def register(self, registered: RegisteredOffsets, now_ms: int) -> bool:
        """Keep the offsets unless the producer has some that still count; says whether they were kept."""
        _check_id(registered.producer_id)
        before = self.get(registered.producer_id)
        if before is not None and before.expires_ms > now_ms:
            return False
        with self._store.change() as change:
            change.put_document(Document(AREA, registered.producer_id, _to_text(registered)))
        return True

    def get(self, producer_id: str) -> RegisteredOffsets | None:
        """What a producer registered, expired or not."""
        _check_id(producer_id)
        text = self._store.document(AREA, producer_id)
        return None if text is None else _of_text(producer_id, text)

    def delete(self, producer_id: str) -> None:
        """Forget a producer."""
        _check_id(producer_id)
        with self._store.change() as change:
            change.delete_document(AREA, producer_id)

    def remove_expired(self, now_ms: int) -> None:
        """Forget what no longer counts."""
        found = [_of_text(d.key, d.text) for d in self._store.documents(AREA)]
        expired = [registered.producer_id for registered in found if registered.expires_ms <= now_ms]
        if expired:
            with self._store.change() as change:
                for producer_id in expired:
                    change.delete_document(AREA, producer_id)


def _check_id(producer_id: str) -> None:
    if wrong := names.complaint(producer_id, reserved_prefix_allowed=True):
        raise ErrorCode.INVALID_PRODUCER_ID.error(f"The producer id is invalid: {wrong}")


def _to_text(registered: RegisteredOffsets) -> str:
    return json.dumps(
        {
            "version": 1,
            "expires_ms": registered.expires_ms,
            "offsets": [[*bucket, offset] for bucket, offset in registered.offsets.items()],
        }
    )


def _of_text(producer_id: str, text: str) -> RegisteredOffsets:
    node = json.loads(text)
    offsets = {TableBucket(*bucket): offset for *bucket, offset in node["offsets"]}
    return RegisteredOffsets(producer_id, node["expires_ms"], offsets)
