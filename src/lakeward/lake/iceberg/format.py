"""IcebergFormat: the door to this folder."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.iceberg.catalog import IcebergCatalog
from lakeward.lake.iceberg.pyiceberg_names import what_broke
from lakeward.lake.iceberg.write.data_writer import DataFileWriter, Writing
from lakeward.lake.iceberg.write.merge_writer import MergeWriter
from lakeward.lake.library_version import unfit_library
from lakeward.lake.port import LakePlace, LakeWriter


class IcebergFormat:
    """Apache Iceberg, format version 2."""

    name = "iceberg"

    def __init__(self) -> None:
        broken = what_broke()
        if broken:
            raise unfit_library(self.name, broken[0])

    def catalog(self, properties: Mapping[str, str]) -> IcebergCatalog:
        """Open a catalog by pyiceberg's own property names."""
        return IcebergCatalog(properties)

    def writer(self, writing: bytes, place: LakePlace) -> LakeWriter:
        """A writer in a task."""
        known = Writing.of_bytes(writing)
        return MergeWriter(known, place) if known.keys else DataFileWriter(known, place)
