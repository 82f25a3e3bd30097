"""What every MetadataStore must do, whatever it is made of."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.port import (
    Counter,
    DatabaseRecord,
    Document,
    MetadataStore,
    PartitionRecord,
    SchemaRecord,
    TableRecord,
)
from lakeward.server.metadata_store.sqlite_store import FILE_NAME, SqliteMetadataStore

DATABASE = DatabaseRecord("db", "{}", 1, 1)
TABLE = TableRecord(7, "db", "t", '{"a":1}', 1, 2, 2)
SCHEMA = SchemaRecord(7, 1, '{"s":1}')
PARTITION = PartitionRecord(3, 7, "2024", 5)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MetadataStore]:
    """A fresh store of each kind."""
    made: MetadataStore = (
        MemoryMetadataStore()
        if request.param == "memory"
        else SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / "m.db")
    )
    yield made
    made.close()


def fill(store: MetadataStore) -> None:
    """One of everything."""
    with store.change() as change:
        change.put_database(DATABASE)
        change.put_table(TABLE)
        change.put_schema(SCHEMA)
        change.put_partition(PARTITION)
        change.put_option("k", "v")
        change.put_document(Document("area", "key", "text"))


def contents(store: MetadataStore) -> list[object]:
    """Everything a store holds."""
    return [
        *store.databases(),
        *store.tables(),
        *store.schemas(),
        *store.partitions(),
        store.options(),
        *store.documents("area"),
    ]


def test_what_was_put_is_there(store: MetadataStore) -> None:
    """A finished change is visible, whole."""
    fill(store)
    assert contents(store) == [
        DATABASE,
        TABLE,
        SCHEMA,
        PARTITION,
        {"k": "v"},
        Document("area", "key", "text"),
    ]


def test_a_new_store_is_empty(store: MetadataStore) -> None:
    """Nothing is there that nobody put."""
    assert contents(store) == [{}]
    assert store.document("area", "key") is None


def test_a_change_that_fails_leaves_nothing(store: MetadataStore) -> None:
    """All of a change happens, or none."""
    fill(store)
    before = contents(store)

    def fail() -> None:
        with store.change() as change:
            change.delete_table(7)
            change.put_option("k", "other")
            change.put_document(Document("area", "more", "text"))
            change.take(Counter.TABLE_ID)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fail()
    assert contents(store) == before


def test_dropping_a_table_drops_its_schemas_and_partitions_only(store: MetadataStore) -> None:
    """Nothing of a table stays behind, and nothing of another goes."""
    fill(store)
    other = TableRecord(8, "db", "u", "{}", 1, 2, 2)
    with store.change() as change:
        change.put_table(other)
        change.put_schema(SchemaRecord(8, 1, "{}"))
        change.put_partition(PartitionRecord(4, 8, "2024", 5))
    with store.change() as change:
        change.delete_table(7)
    assert list(store.tables()) == [other]
    assert [s.table_id for s in store.schemas()] == [8]
    assert [p.partition_id for p in store.partitions()] == [4]


def test_a_table_is_replaced_under_its_id(store: MetadataStore) -> None:
    """Altering keeps schemas and partitions."""
    fill(store)
    altered = TableRecord(7, "db", "t", '{"a":2}', 2, 2, 9)
    with store.change() as change:
        change.put_table(altered)
        change.put_schema(SchemaRecord(7, 2, "{}"))
    assert list(store.tables()) == [altered]
    assert [s.schema_id for s in store.schemas()] == [1, 2]
    assert list(store.partitions()) == [PARTITION]


def test_a_database_is_replaced_under_its_name(store: MetadataStore) -> None:
    """Altering a database keeps its tables."""
    fill(store)
    with store.change() as change:
        change.put_database(DatabaseRecord("db", '{"c":1}', 1, 8))
    assert list(store.databases()) == [DatabaseRecord("db", '{"c":1}', 1, 8)]
    assert list(store.tables()) == [TABLE]


def test_partitions_come_oldest_first(store: MetadataStore) -> None:
    """The order of partitions is the order of their creation."""
    fill(store)
    with store.change() as change:
        change.put_partition(PartitionRecord(2, 7, "2023", 5))
    assert [p.partition_id for p in store.partitions()] == [2, 3]


@pytest.mark.parametrize("delete", ["delete_option", "delete_document", "delete_partition", "delete_table"])
def test_deleting_what_is_not_there_is_no_error(store: MetadataStore, delete: str) -> None:
    """A deletion says how things should be, not how they were."""
    arguments = {"delete_option": ("x",), "delete_document": ("area", "x")}.get(delete, (99,))
    with store.change() as change:
        getattr(change, delete)(*arguments)


def test_counters_are_independent_and_start_at_zero(store: MetadataStore) -> None:
    """Each counter gives 0, 1, 2, … on its own, in blocks if asked."""
    with store.change() as change:
        assert [change.take(Counter.TABLE_ID) for _ in range(3)] == [0, 1, 2]
        assert change.take(Counter.WRITER_ID, 1000) == 0
    with store.change() as change:
        assert change.take(Counter.TABLE_ID) == 3
        assert change.take(Counter.WRITER_ID, 1000) == 1000
        assert change.take(Counter.PARTITION_ID) == 0


def test_documents_are_found_by_area(store: MetadataStore) -> None:
    """Areas do not see each other; documents of one come by key."""
    with store.change() as change:
        for area, key in (("a", "2"), ("a", "1"), ("b", "1")):
            change.put_document(Document(area, key, f"{area}{key}"))
    assert [d.key for d in store.documents("a")] == ["1", "2"]
    assert store.document("b", "1") == "b1"
    assert store.document("b", "2") is None


def test_sqlite_remembers_after_closing(tmp_path: Path) -> None:
    """A store opened again holds what was put, and counts on."""
    first = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / "m.db")
    fill(first)
    with first.change() as change:
        change.take(Counter.TABLE_ID, 5)
    held = contents(first)
    first.close()
    second = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / "m.db")
    assert contents(second) == held
    with second.change() as change:
        assert change.take(Counter.TABLE_ID) == 5
    second.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.metadata_store.port import Counter, DatabaseRecord, Document
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), Path(sys.argv[1]))
with store.change() as change:
    change.put_database(DatabaseRecord("kept", "{}", 1, 1))
    print(change.take(Counter.WRITER_ID, 1000))
unfinished = store.change()
change = unfinished.__enter__()
change.put_database(DatabaseRecord("lost", "{}", 1, 1))
change.take(Counter.WRITER_ID, 1000)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_sqlite_survives_a_kill_in_the_middle_of_a_change(tmp_path: Path) -> None:
    """After kill -9 the last finished change is there, the unfinished one is not, and no id comes twice."""
    for round_number in range(3):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "m.db")], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert int(done.stdout) == round_number * 1000
    store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / "m.db")
    assert [d.name for d in store.databases()] == ["kept"]
    store.close()


def truncated(path: Path) -> None:
    """A file that is no database."""
    path.write_bytes(b"this is not a database, whatever its name says" * 100)


def of_another_release(path: Path) -> None:
    """A file whose version is not ours."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def a_directory(path: Path) -> None:
    """A directory where the file should be."""
    path.mkdir()


@pytest.mark.parametrize("spoil", [truncated, of_another_release, a_directory])
def test_sqlite_refuses_a_file_it_cannot_use(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    """The error names the file; the file is left alone."""
    path = tmp_path / FILE_NAME
    spoil(path)
    with pytest.raises(LakewardError, match=FILE_NAME) as refused:
        SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / FILE_NAME)
    assert refused.value.code is ErrorCode.STORAGE


def test_sqlite_turns_a_refused_change_into_our_error(tmp_path: Path) -> None:
    """A table in a database that is not there breaks the store's own rules, and is undone."""
    store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / FILE_NAME)

    def orphan() -> None:
        with store.change() as change:
            change.put_option("k", "v")
            change.put_table(TABLE)

    with pytest.raises(LakewardError) as refused:
        orphan()
    assert refused.value.code is ErrorCode.STORAGE
    assert store.options() == {}
    assert (tmp_path / FILE_NAME).is_file()
    store.close()
