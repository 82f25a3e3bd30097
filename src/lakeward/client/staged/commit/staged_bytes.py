"""StagedBytes: a finished batch out of a manifest or a part's file, ready to get its sender's name and number."""

from __future__ import annotations

from lakeward.client.staged.parts.manifest import INLINE, Manifest, StagedBatch
from lakeward.client.staged.parts.open_directory import directory_at
from lakeward.errors import CorruptError, ErrorCode
from lakeward.records.batch.kv_batch import kv_crc_is_right, seal_kv_batch
from lakeward.records.batch.log_batch import cut_batches, reseal


class StagedBytes:
    """One batch on its way to a lane."""

    __slots__ = ("_data", "_is_keyed")

    def __init__(self, data: bytearray, *, is_keyed: bool) -> None:
        self._data = data
        self._is_keyed = is_keyed

    @property
    def size(self) -> int:
        """Bytes of the batch, its header included."""
        return len(self._data)

    def seal(self, schema_id: int, writer_id: int, sequence: int) -> bytearray:  # noqa: ARG002 - it has its own
        """The whole batch, under the schema that it was encoded with."""
        (seal_kv_batch if self._is_keyed else reseal)(self._data, writer_id, sequence)
        return self._data


def load_batch(manifest: Manifest, batch: StagedBatch, is_keyed: bool) -> StagedBytes:
    """Read a batch and check that it is what was staged."""
    if batch.file == INLINE:
        where = f"the manifest of batch {manifest.batch_id}"
        data = bytearray(manifest.data[batch.position : batch.position + batch.size])
    else:
        where = manifest.files[batch.file]
        place, _, name = where.rpartition("/")
        data = directory_at(place).read_at(name, batch.position, batch.size)
    try:
        if not is_keyed:
            cut_batches(data)
        elif not kv_crc_is_right(data):
            raise ValueError("its CRC is wrong")
    except (CorruptError, ValueError) as wrong:
        raise ErrorCode.STORAGE.error(f"A staged batch of {manifest.table} in {where} is damaged: {wrong}") from wrong
    return StagedBytes(data, is_keyed=is_keyed)
