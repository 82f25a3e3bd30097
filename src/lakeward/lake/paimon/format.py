"""PaimonFormat: the door to this folder."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.paimon.catalog import PaimonCatalog
from lakeward.lake.paimon.write.append_writer import AppendWriter
from lakeward.lake.paimon.write.key_writer import KeyWriter
from lakeward.lake.paimon.write.writing import Writing
from lakeward.lake.port import LakePlace, LakeWriter


class PaimonFormat:
    """Apache Paimon, table format version 3."""

    name = "paimon"

    def catalog(self, properties: Mapping[str, str]) -> PaimonCatalog:
        """Open a warehouse by Paimon's own property names."""
        return PaimonCatalog(properties)

    def writer(self, writing: bytes, place: LakePlace) -> LakeWriter:
        """A writer in a task."""
        known = Writing.of_bytes(writing)
        return KeyWriter(known, place) if known.shape.keys else AppendWriter(known, place)
