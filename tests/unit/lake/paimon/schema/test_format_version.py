"""Paimon files of other versions: refused in a sentence that names the table and the file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fastavro
import pytest
from lake_tables import Rounds, table_info

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import reader_of
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace

INFO = table_info({"id": "BIGINT", "name": "STRING"})


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A table with one round, as we and Apache Fluss's tiering write it."""
    made = Rounds(lake_format("paimon"), tmp_path, INFO)
    made.round({LakePlace(0): [{"id": 1, "name": "x"}]})
    return made


def files(warehouse: Path, pattern: str) -> list[Path]:
    """Files of the table."""
    return sorted((warehouse / "shop.db" / "orders").glob(pattern))


def give_version(paths: Iterable[Path], version: int) -> None:
    """The same files, as if written by a Paimon of another version."""
    for path in paths:
        if path.parent.name != "manifest":
            path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
            continue
        with path.open("rb") as stream:
            reader = fastavro.reader(stream)
            records: list[dict[str, Any]] = [{**r, "_VERSION": version} for r in reader]  # type: ignore[dict-item]
        with path.open("wb") as stream:
            fastavro.writer(stream, reader.writer_schema, records, codec="zstandard")


def read(rounds: Rounds) -> int:
    """How many files a query finds in the newest snapshot."""
    reader = reader_of(rounds.info, {"warehouse": str(rounds.warehouse)})
    assert reader is not None
    return len(reader.files(reader.snapshots()[0].snapshot_id))


@pytest.mark.parametrize(
    ("pattern", "word", "version"),
    [
        ("schema/schema-0", "schema", 4),
        ("schema/schema-0", "schema", 2),
        ("snapshot/snapshot-1", "snapshot", 4),
        ("manifest/manifest-list-*", "manifest", 3),
        ("manifest/manifest-?*-0", "manifest", 3),
        ("manifest/manifest-?*-0", "manifest", 1),
    ],
)
def test_a_version_that_would_be_misread_is_refused(rounds: Rounds, pattern: str, word: str, version: int) -> None:
    """By readers; nobody guesses what a newer Paimon means, or which defaults an older one had."""
    assert isinstance(rounds.warehouse, Path)
    assert read(rounds) == 1
    paths = files(rounds.warehouse, pattern)
    assert paths
    give_version(paths, version)
    with pytest.raises(LakewardError, match=rf"shop\.db/orders has a {word} of version {version} \({word}") as refused:
        read(rounds)
    assert refused.value.code is ErrorCode.INVALID_TABLE


@pytest.mark.parametrize("pattern", ["schema/schema-0", "snapshot/snapshot-1", "manifest/*"])
def test_tiering_leaves_such_a_table_alone(rounds: Rounds, pattern: str) -> None:
    """Refused before a snapshot is made on top of what is not understood."""
    assert isinstance(rounds.warehouse, Path)
    give_version(files(rounds.warehouse, pattern), 9)
    with pytest.raises(LakewardError, match="of version 9 "):
        Rounds(lake_format("paimon"), rounds.warehouse, INFO).round({LakePlace(0): [{"id": 2}]})
    assert len(files(rounds.warehouse, "snapshot/snapshot-*")) == 1


@pytest.mark.parametrize("version", [1, 2, 3])
def test_snapshots_of_older_versions_are_read(rounds: Rounds, version: int) -> None:
    """They only know less of themselves."""
    assert isinstance(rounds.warehouse, Path)
    give_version(files(rounds.warehouse, "snapshot/snapshot-1"), version)
    assert read(rounds) == 1
