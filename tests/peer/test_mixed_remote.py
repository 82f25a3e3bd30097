"""Buckets on Apache's tablet servers and on ours, with remote storage: whoever leads goes on from what counts."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from apache_cluster import ApacheCluster
from eventually import eventually
from mixed_cluster import Writer

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

_KILLS = max(int(os.environ.get("MIXED_KILLS", "6")) // 2, 1)
_SEED = int(os.environ.get("MIXED_SEED", str(random.SystemRandom().randrange(10**6))))
_OURS, _JAVAS = 3, (0, 1)
_SETTINGS = {
    "zookeeper.client.session-timeout": "3s",
    "log.replica.max-lag-time": "5s",
    "log.segment.file-size": "32kb",
    "remote.log.task-interval-duration": "500ms",
    "kv.snapshot.interval": "1s",
    # A server of 0.9.1 that is killed cuts its log to its last note, and breaks where that is below the log's start.
    "log.replica.high-watermark.checkpoint-interval": "100ms",
}
_REPLICATED = {"table.replication.factor": "3"}


def name_of(number: int, turn: int = 0) -> str:
    """What a row is called: a hundred letters that no codec makes small."""
    return (sha256(f"{number}/{turn}".encode()).hexdigest() * 2)[:100]


def wide(ids: Iterable[int], turn: int = 0) -> pa.Table:
    """Rows that fill segments."""
    numbers = list(ids)
    return pa.table({"id": pa.array(numbers, pa.int64()), "name": [name_of(one, turn) for one in numbers]})


class Mixed:
    """Two of Apache's tablet servers and one of ours."""

    def __init__(self) -> None:
        self.cluster = ApacheCluster(_SETTINGS)
        # Writes go on also where somebody else has filled the machine's disk.
        more = {"remote.data.dir": str(self.cluster.directory / "remote"), "server.data-disk.write-limit-ratio": "0.99"}
        ours = {**_SETTINGS, **more}
        self._flags = tuple(part for key, value in ours.items() for part in ("-D", f"{key}={value}"))
        for number in (*_JAVAS, _OURS):
            self.start(number)

    def start(self, number: int) -> None:
        """One of either kind."""
        if number == _OURS:
            self.cluster.start_ours(number, *self._flags)
        else:
            self.cluster.start_java(number)

    def leaders(self, table: str) -> dict[str, int]:
        """Bucket → who leads it."""
        return {one: json.loads(at["leader_isr"])["leader"] for one, at in self.cluster.buckets(table).items()}

    def hand_to(self, number: int, table: str) -> None:
        """Have one server lead all buckets: the others go, and come back."""
        others = [one for one in (*_JAVAS, _OURS) if one != number]
        for other in others:
            if other == _OURS:
                self.cluster.kill(other)
            else:  # one of 0.9.1 that has just skipped what is in remote storage and is killed does not come up again
                self.cluster.stop_server(other)
        assert eventually(lambda: set(self.leaders(table).values()) == {number}, within_s=60), self.leaders(table)
        for other in others:
            self.start(other)
        self.await_sync(table)

    def lose_disk(self, table: str) -> None:
        """Ours comes back with nothing, and fetches what its leaders still have."""
        self.cluster.kill(_OURS)
        shutil.rmtree(self.cluster.directory / f"tablet-{_OURS}")
        self.start(_OURS)
        self.await_sync(table)

    def await_sync(self, table: str) -> None:
        """Wait until all three have all of a table."""
        assert eventually(lambda: self.cluster.in_sync(table) == {(0, 1, 3)}, within_s=60), (
            self.cluster.leaders(table),
            self.cluster.directory,
        )

    def copied(self, table: str) -> dict[str, Copied]:
        """Bucket → what is copied of its log; all that is named must be there."""
        return {
            one: _copied(at["remote_logs"]) for one, at in self.cluster.buckets(table).items() if "remote_logs" in at
        }

    def snapshots(self, table: str) -> dict[str, int]:
        """Bucket → the offset of its newest snapshot; all that is named must be there."""
        found: dict[str, int] = {}
        for bucket, at in self.cluster.buckets(table).items():
            for name, node in at.items():
                if name.startswith("snapshots/"):
                    offset = _snapshot_offset(json.loads(node))
                    found[bucket] = max(found.get(bucket, 0), offset)
        return found


class Copied(NamedTuple):
    """Up to where a log is copied, in how many segments."""

    end: int
    segments: int


def _copied(node: bytes) -> Copied:
    path = Path(json.loads(node)["remote_log_manifest_path"])
    segments = sorted(json.loads(path.read_bytes())["remote_log_segments"], key=lambda one: one["start_offset"])
    end = 0
    for one in segments:
        file = path.parent.parent / one["segment_id"] / f"{one['start_offset']:020d}.log"
        assert file.stat().st_size == one["size_in_bytes"], file
        assert one["start_offset"] <= end, (end, segments)  # no gap; Apache's own may overlap
        end = max(end, one["end_offset"])
    return Copied(end, len(segments))


def _snapshot_offset(node: dict[str, Any]) -> int:
    try:
        metadata = json.loads(Path(node["metadata_path"]).read_bytes())
    except FileNotFoundError:
        return 0  # the coordinator has just let go of it
    handle = metadata["kv_snapshot_handle"]
    for file in (*handle["shared_file_handles"], *handle["private_file_handles"]):
        path = Path(file["kv_file_handle"]["path"])
        assert not path.exists() or path.stat().st_size == file["kv_file_handle"]["size"], path
        if not path.exists():
            assert not Path(node["metadata_path"]).exists(), f"{path} is named and not there"
    return int(metadata["log_offset"])


@pytest.fixture(scope="module")
def mixed() -> Iterator[Mixed]:
    """A cluster of both kinds."""
    started = Mixed()
    try:
        yield started
    finally:
        started.cluster.stop(keep="MIXED_KEEP" in os.environ)


def test_whoever_leads_goes_on_from_the_manifest(mixed: Mixed) -> None:
    """Each copies its buckets, then ours all of them, then one of Apache's; every row is read once."""
    with lw.connect(mixed.cluster.bootstrap) as conn:
        table = conn.create_table("fluss.copied", "id BIGINT, name STRING", buckets=3, properties=_REPLICATED)
        written = 0

        def write_until_copied() -> None:
            nonlocal written
            before = mixed.copied("copied")
            for _ in range(40):
                table.append(wide(range(written, written + 200)))
                written += 200

            def is_further() -> bool:
                now = mixed.copied("copied")
                return len(now) == 3 and all(now[one].end > before.get(one, Copied(0, 0)).end for one in now)

            assert eventually(is_further, within_s=60), (before, mixed.copied("copied"), mixed.leaders("copied"))

        def read_all() -> None:
            found = conn.table("fluss.copied").scan().to_arrow()["id"].to_pylist()
            assert len(found) == len(set(found)) == written

        write_until_copied()
        assert set(mixed.leaders("copied").values()) == {0, 1, 3}
        assert eventually(lambda: _is_trimmed(mixed, "copied"), within_s=60)
        read_all()
        for number in (_OURS, _JAVAS[0], _OURS):
            mixed.hand_to(number, "copied")
            write_until_copied()
            read_all()
        mixed.hand_to(_JAVAS[1], "copied")
        mixed.lose_disk("copied")
        mixed.hand_to(_OURS, "copied")
        read_all()
        write_until_copied()
        read_all()


def _is_trimmed(mixed: Mixed, table: str) -> bool:
    """Whether all three have let go of what is copied, as leaders and as followers."""
    return all(
        all(int(path.stem) > 0 for path in mixed.cluster.log_files(number, table)) for number in (*_JAVAS, _OURS)
    )


def test_whoever_leads_goes_on_from_the_snapshot(mixed: Mixed) -> None:
    """State that one kind of server has written is restored by the other: the log before it is gone from both."""
    with lw.connect(mixed.cluster.bootstrap) as conn:
        table = conn.create_table(
            "fluss.states", "id BIGINT, name STRING, PRIMARY KEY (id)", buckets=3, properties=_REPLICATED
        )
        wanted: dict[int, str] = {}

        def write_until_taken(turn: int) -> None:
            before = mixed.snapshots("states")
            for first in range(0, 6000, 500):
                ids = [one * (turn % 3 + 1) for one in range(first, first + 500)]
                table.upsert(wide(ids, turn))
                wanted.update((one, name_of(one, turn)) for one in ids)

            def is_further() -> bool:
                now = mixed.snapshots("states")
                return len(now) == 3 and all(now[one] > before.get(one, 0) for one in now)

            assert eventually(is_further, within_s=60), (before, mixed.snapshots("states"), mixed.leaders("states"))

        def check() -> None:
            ids = sorted(wanted)
            found = conn.table("fluss.states").lookup(pa.table({"id": pa.array(ids, pa.int64())}))
            assert found["name"].to_pylist() == [wanted[one] for one in ids]

        write_until_taken(0)
        assert eventually(lambda: _is_trimmed(mixed, "states"), within_s=60)
        for turn, number in enumerate((_OURS, _JAVAS[0], _OURS, _JAVAS[1]), 1):
            mixed.hand_to(number, "states")
            check()
            write_until_taken(turn)
            check()
        mixed.lose_disk("states")
        mixed.hand_to(_OURS, "states")
        check()
    assert "its state goes on from snapshot" in mixed.cluster.log_of(f"tablet-{_OURS}")


@pytest.mark.parametrize("keyed", [False, True], ids=["log", "state"])
def test_a_kill_while_copying_loses_nothing(mixed: Mixed, keyed: bool) -> None:
    """Our leader, again and again, at any moment; what is named is there, what was acknowledged is read."""
    chance = random.Random(_SEED + keyed)
    name, key = f"killed{keyed:d}", ", PRIMARY KEY (id)" if keyed else ""
    with lw.connect(mixed.cluster.bootstrap) as conn:
        conn.create_table(f"fluss.{name}", f"id BIGINT, name STRING{key}", buckets=3, properties=_REPLICATED)
    verb = "upsert" if keyed else "append"
    writer = Writer(
        mixed.cluster.bootstrap,
        f"fluss.{name}",
        lambda table, some: getattr(table, verb)(wide(some["id"].to_pylist())),
    )
    writer.start()
    for _ in range(_KILLS):
        mixed.hand_to(_OURS, name)
        before = len(writer.acknowledged)
        assert eventually(lambda before=before: len(writer.acknowledged) > before + 500, within_s=60)
        time.sleep(chance.random() * 2)
        mixed.cluster.kill(_OURS)
        mixed.copied(name)
        mixed.snapshots(name)
        before = len(writer.acknowledged)
        assert eventually(lambda before=before: len(writer.acknowledged) > before, within_s=60), f"seed {_SEED}"
        mixed.start(_OURS)
        mixed.await_sync(name)
        mixed.copied(name)
        mixed.snapshots(name)
    writer.stop()
    with lw.connect(mixed.cluster.bootstrap) as conn:
        table, wanted = conn.table(f"fluss.{name}"), writer.acknowledged
        if keyed:
            found = table.lookup(pa.table({"id": pa.array(wanted, pa.int64())}))
            assert found["name"].to_pylist() == [name_of(one) for one in wanted], f"seed {_SEED}"
        else:
            ids = table.scan().to_arrow()["id"].to_pylist()
            assert set(wanted) <= set(ids), f"seed {_SEED}"
            assert len(ids) == len(set(ids)), f"seed {_SEED}: rows twice"
    print(f"seed {_SEED}: {_KILLS} kills, {len(writer.acknowledged)} rows, slowest write {writer.slowest_s:.1f} s")
