"""lakeward copy of primary key tables whose first changes are gone: rows as they are, then what changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pyarrow as pa
from copies import copy, run_copy, state_of
from eventually import eventually
from remote_tables import EAGER
from server_process import ServerProcess

import lakeward

Start = Callable[..., ServerProcess]
_NAME = "fluss.people"
_SHORT = {"table.log.segment.file-size": "4kb", "table.log.retention.bytes": "10kb"}
_FIRST = lakeward.BucketId(None, 0)


def _people(count: int, text: str) -> pa.Table:
    return pa.table({"id": pa.array(range(count), pa.int32()), "name": [f"{text} {i * 7919:x}" for i in range(count)]})


def _trimmed(here: lakeward.Connection) -> lakeward.Table:
    """A table that has forgotten its first changes."""
    table = here.create_table(_NAME, "id INT NOT NULL, name STRING, PRIMARY KEY (id)", buckets=2, properties=_SHORT)
    versions = itertools.count()

    def has_forgotten() -> bool:
        """After more changes: the log is kept for the older of two snapshots, so it takes a third to forget."""
        for _ in range(10):
            table.upsert(_people(200, f"v{next(versions)}"))
        return table.offsets("earliest")[_FIRST] > 0

    assert eventually(has_forgotten, within_s=60)
    table.delete([{"id": i} for i in range(0, 200, 7)])
    return table


def test_rows_come_as_they_are_and_changes_follow(new_server: Start) -> None:
    """The state is the same, after updates and deletes too; started again, only what differs is sent."""
    source, target = new_server(**EAGER, kv__snapshot__interval="200ms"), new_server()
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        table = _trimmed(here)
        told = copy(source, target, _NAME)[_NAME]
        assert (told["copied_by"], told["offsets"], told["compared"]) == ("state", "other", "same")
        assert told["rows"] == 200 - 29
        assert state_of(there, _NAME) == state_of(here, _NAME)
        table.upsert(_people(10, "new"))
        table.delete([{"id": 100}, {"id": 101}])
        again = copy(source, target, _NAME)[_NAME]
        assert 0 < again["rows"] <= 12
        assert state_of(there, _NAME) == state_of(here, _NAME)
        last = copy(source, target, _NAME, "--cut-over", "--silence", "300ms")[_NAME]
        assert last["compared"] == "same"
        assert "lakeward.copy-of" not in there.table(_NAME).info.descriptor.custom_properties


def test_rows_that_somebody_else_wrote_are_not_replaced(new_server: Start) -> None:
    """Only a table that a copy has made is brought to the source's state."""
    source, target = new_server(**EAGER, kv__snapshot__interval="200ms"), new_server()
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        _trimmed(here)
        own = there.create_table(_NAME, "id INT NOT NULL, name STRING, PRIMARY KEY (id)", buckets=2)
        own.upsert([{"id": 7_000, "name": "mine"}])
        refused = run_copy(source, target, _NAME)
        assert refused.returncode == 1
        assert "`lakeward copy` did not make it: its rows would be replaced" in refused.stderr.replace("\n", " ")
        assert own.count() == 1
