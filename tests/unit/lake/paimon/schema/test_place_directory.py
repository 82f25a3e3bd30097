"""Directories of partitions are named as Paimon names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lake_tables import table_info

from lakeward.lake.paimon.schema.binary_row import to_binary
from lakeward.lake.paimon.schema.place_directory import place_directory, place_of
from lakeward.lake.paimon.schema.schema_file import schema_of
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.port import LakePlace
from lakeward.model.values import Timestamp


@pytest.mark.parametrize(
    ("type_", "value", "directory", "text"),
    [
        ("STRING", "a b", "p=a b", "a b"),
        ("STRING", "a/b:c", "p=a%2Fb%3Ac", "a/b:c"),
        ("INT", -5, "p=-5", "-5"),
        ("BOOLEAN", True, "p=true", "true"),
        ("DATE", 20758, "p=2026-11-01", "2026-11-01"),
        ("TIME(3)", 3_723_004, "p=01%3A02%3A03.004", "01-02-03_004"),
        ("TIMESTAMP(3)", Timestamp(1_793_528_430_120), "p=2026-11-01 10%3A20%3A30.120", "2026-11-01-10-20-30_12"),
        ("TIMESTAMP(0)", Timestamp(1_793_528_430_000), "p=2026-11-01 10%3A20%3A30", "2026-11-01-10-20-30_"),
    ],
)
def test_a_partition_has_a_directory_and_a_place(type_: str, value: Any, directory: str, text: str) -> None:
    """The directory is Paimon's, the place has our name of the partition."""
    info = table_info({"id": "BIGINT", "p": type_}, partitions=["p"])
    shape = TableShape.of(Path("t"), schema_of(info, 0), info)
    assert place_directory(shape, [value], 3) == Path("t", directory, "bucket-3")
    partition = to_binary(shape.types_of(["p"]), [value])
    assert place_of(shape, partition, 3) == LakePlace(3, (text,))
