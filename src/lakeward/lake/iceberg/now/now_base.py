"""NowBase: a table of the lake as it is committed, ready to be built upon; or as it would be created."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from pyiceberg.io import FileIO
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV2
from pyiceberg.table.snapshots import Snapshot

from lakeward.lake.iceberg.catalog import IcebergCatalog, follow_columns
from lakeward.lake.iceberg.now.now_area import NowArea
from lakeward.lake.iceberg.write.data_writer import Writing
from lakeward.model.table import TableInfo

#: Where data goes that tables are told about; what is hot goes into the area.
_PLACES = ("write.data.path", "write.metadata.path", "write.object-storage.enabled")
#: Quick to write, and every reader has it.
_CODEC = {"write.parquet.compression-codec": "snappy"}


@dataclass(frozen=True, slots=True)
class NowBase:
    """Metadata in format version 2, with all columns that our table has; and the snapshot that is built upon."""

    metadata: TableMetadataV2
    snapshot: Snapshot | None
    #: The id of the table as it is now.
    uuid: str
    io: FileIO
    area: NowArea

    @classmethod
    def of(cls, catalog: IcebergCatalog, info: TableInfo, snapshot_id: int | None, writer: str) -> NowBase | None:
        """The table; None where it does not have this snapshot any more."""
        table = catalog.pyiceberg_table(info.path)
        if table is None and snapshot_id is not None:
            return None
        if table is None or (snapshot_id is None and table.current_snapshot() is not None):
            table = catalog.imagine_table(info)  # what lies there is nothing of this table's: of an earlier one's
        metadata = _in_version_2(follow_columns(table, info))
        snapshot = None if snapshot_id is None else metadata.snapshot_by_id(snapshot_id)
        if snapshot_id is not None and snapshot is None:
            return None
        return cls(metadata, snapshot, now_uuid(info), table.io, NowArea(metadata.location, writer, table.io))

    @property
    def shape(self) -> tuple[Any, ...]:
        """All that files of this table depend on: those of another shape are not taken."""
        metadata = self.metadata
        return self.uuid, metadata.location, metadata.schema(), metadata.spec(), metadata.properties

    def writing(self) -> Writing:
        """What a writer of hot files must know: the table, as if it were in the area."""
        kept = {key: value for key, value in self.metadata.properties.items() if key not in _PLACES}
        bare = self.metadata.model_copy(
            update={
                "location": self.area.location,
                "properties": kept | _CODEC,
                "snapshots": [],
                "snapshot_log": [],
                "metadata_log": [],
                "refs": {},
                "current_snapshot_id": None,
            }
        )
        return Writing(bare.model_dump_json(), dict(self.io.properties))


def now_uuid(info: TableInfo) -> str:
    """The id of a table as it is now: always the same, also before it is in the lake, and not the committed one's."""
    digest = hashlib.sha256(f"{info.path} {info.table_id} now".encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _in_version_2(metadata: TableMetadata) -> TableMetadataV2:
    """Version 1 has no deletes; what version 2 says of the same table is no other table."""
    if isinstance(metadata, TableMetadataV2):
        return metadata
    told = TableMetadataUtil.parse_raw(metadata.model_dump_json())
    assert hasattr(told, "to_v2"), "versions above 2 are refused by readers"
    upgraded = told.to_v2()
    assert isinstance(upgraded, TableMetadataV2)
    return upgraded
