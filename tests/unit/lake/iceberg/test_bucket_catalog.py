"""A catalog that is nothing but numbered files; a directory stands for the bucket here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.types import LongType, NestedField

from lakeward.lake.iceberg.bucket_catalog import BucketCatalog

NAME = ("shop", "orders")
SCHEMA = Schema(NestedField(1, "id", LongType()))


@pytest.fixture
def catalog(tmp_path: Path) -> BucketCatalog:
    """A catalog with one table."""
    made = BucketCatalog("lakeward", warehouse=str(tmp_path))
    made.create_table(NAME, SCHEMA)
    return made


def metadata(catalog: BucketCatalog) -> Path:
    """Where the versions are."""
    return Path(catalog.load_table(NAME).metadata_location).parent


def test_a_table_is_created_once(catalog: BucketCatalog) -> None:
    """Whoever comes later is told so."""
    with pytest.raises(TableAlreadyExistsError, match=r"shop\.orders already exists"):
        catalog.create_table(NAME, SCHEMA)
    with pytest.raises(NoSuchTableError, match=r"no table shop\.nothing"):
        catalog.load_table(("shop", "nothing"))
    assert catalog.list_tables("shop") == [NAME]
    assert catalog.list_namespaces() == [("shop",)]


def test_every_commit_is_the_next_version(catalog: BucketCatalog) -> None:
    """Readers that know Iceberg's Hadoop tables find the newest by the hint."""
    for n in range(3):
        with catalog.load_table(NAME).transaction() as change:
            change.set_properties({"n": str(n)})
    folder = metadata(catalog)
    assert sorted(p.name for p in folder.glob("v*")) == [f"v{n}.metadata.json" for n in range(1, 5)] + [
        "version-hint.text"
    ]
    assert StaticTable.from_metadata(str(folder.parent)).properties["n"] == "2"


def test_of_two_commits_to_one_version_one_is_refused(catalog: BucketCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's commit is lost: the other one hears of it and looks again."""
    stale = catalog.load_table(NAME)
    with catalog.load_table(NAME).transaction() as change:
        change.set_properties({"who": "first"})
    monkeypatch.setattr(catalog, "load_table", lambda _: stale)
    with pytest.raises(CommitFailedException, match="made by another writer"), stale.transaction() as change:
        change.set_properties({"who": "second"})
    monkeypatch.undo()
    assert catalog.load_table(NAME).properties == {"who": "first"}


def test_many_writers_at_once_lose_nothing(catalog: BucketCatalog) -> None:
    """Each tries until its commit is a version; all of them are there in the end."""

    def commit(n: int) -> None:
        while True:
            try:
                with catalog.load_table(NAME).transaction() as change:
                    change.set_properties({f"writer {n}": "was here"})
            except CommitFailedException:
                continue
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(commit, range(8)))
    assert len(catalog.load_table(NAME).properties) == 8
    assert len(list(metadata(catalog).glob("v*.metadata.json"))) == 9


@pytest.mark.parametrize("hint", [None, b"1", b"17", b"not a number"])
def test_a_hint_is_only_where_the_search_begins(catalog: BucketCatalog, hint: bytes | None) -> None:
    """It may be missing, behind, wrong or damaged after a crash."""
    for n in range(2):
        with catalog.load_table(NAME).transaction() as change:
            change.set_properties({"n": str(n)})
    path = metadata(catalog) / "version-hint.text"
    path.unlink() if hint is None else path.write_bytes(hint)
    assert catalog.load_table(NAME).properties == {"n": "1"}


def test_old_versions_go(catalog: BucketCatalog) -> None:
    """As many stay as the table says; the newest is found without a hint too."""
    with catalog.load_table(NAME).transaction() as change:
        change.set_properties(
            {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2"}
        )
    for n in range(5):
        with catalog.load_table(NAME).transaction() as change:
            change.set_properties({"n": str(n)})
    folder = metadata(catalog)
    assert sorted(p.name for p in folder.glob("v*.json")) == [f"v{n}.metadata.json" for n in (5, 6, 7)]
    (folder / "version-hint.text").unlink()
    assert catalog.load_table(NAME).properties["n"] == "4"


def test_what_tiering_does_not_need_is_refused(catalog: BucketCatalog) -> None:
    """With a sentence that says where it is done."""
    with pytest.raises(NotImplementedError, match="tools of the bucket"):
        catalog.rename_table(NAME, ("db", "other"))


def test_a_table_that_is_dropped_is_gone_and_can_be_made_again(catalog: BucketCatalog) -> None:
    """Its versions are removed; the next of that name begins anew."""
    first = catalog.load_table(NAME)
    with first.transaction() as change:
        change.set_properties({"owner": "ada"})
    catalog.drop_table(NAME)
    assert not catalog.table_exists(NAME)
    assert catalog.create_table(NAME, SCHEMA).metadata.table_uuid != first.metadata.table_uuid


def test_a_namespace_is_there_before_it_has_tables(catalog: BucketCatalog) -> None:
    """Once it was made, and until it is dropped."""
    catalog.make_namespace("lab")
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.make_namespace("lab")
    assert ("lab",) in catalog.list_namespaces()
    catalog.drop_namespace(("lab",))
    assert ("lab",) not in catalog.list_namespaces()
