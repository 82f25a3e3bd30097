"""What is stored never harms a reader: every bad batch is one clear error, or left out on purpose."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import poison_reader
import pytest
from poison import COLUMNS, POISON, bury, good_rows
from server_process import ServerProcess

import lakeward

BEFORE, BEHIND = [0, 1, 2], [100, 101, 102]
PEAK_MB_MAX = 700


class Buried:
    """A server with one table for each kind of poison, between good rows, and what a reader of them all has said."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.names = {kind: f"poisoned.t{number}" for number, kind in enumerate(POISON)}
        with lakeward.connect(server.bootstrap) as conn:
            conn.create_database("poisoned")
            for name in self.names.values():
                conn.create_table(name, COLUMNS, buckets=1).append(good_rows(0))
        server.stop()
        self.ranges = {kind: bury(server.data_dir, name, kind) for kind, name in self.names.items()}
        server.start()
        with lakeward.connect(server.bootstrap) as conn:
            for name in self.names.values():
                conn.table(name).append(good_rows(100))
        self.said: dict[tuple[str, str], dict[str, object]] = {}
        self.peak_mb = 0
        self._read()

    def _read(self) -> None:
        command = [sys.executable, poison_reader.__file__, self.server.bootstrap, *self.names.values()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        for line in done.stdout.splitlines():
            one = json.loads(line)
            self.peak_mb = one.get("peak_mb", self.peak_mb)
            self.said[one.get("table", ""), one.get("way", "")] = one
        assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-3000:])

    def __getitem__(self, asked: tuple[str, str]) -> dict[str, object]:
        kind, way = asked
        return self.said[self.names[kind], way]


@pytest.fixture(scope="module")
def buried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buried]:
    """Poison in the files of a server of its own."""
    with ServerProcess(tmp_path_factory.mktemp("poison") / "data") as server:
        yield Buried(server)


@pytest.mark.covering
@pytest.mark.parametrize("kind", POISON)
@pytest.mark.parametrize("way", [way for way in poison_reader.READS if "skipping" not in way])
def test_a_bad_batch_is_one_error_that_names_it(buried: Buried, kind: str, way: str) -> None:
    """Table, bucket and offset, what is wrong, and the way past it; whatever way it is read."""
    said = buried[kind, way]
    if "ids" in said:  # a projection that does not touch what is bad
        assert way == "projected"
        assert set(BEFORE + BEHIND) <= set(said["ids"])  # type: ignore[call-overload]
        return
    start, _ = buried.ranges[kind]
    assert "crash" not in said, said
    assert re.search(rf"{buried.names[kind]}, bucket 0, offsets? {start}\b", str(said["error"])), said
    assert "skip" in str(said["error"])


@pytest.mark.covering
@pytest.mark.parametrize("kind", POISON)
@pytest.mark.parametrize("way", [way for way in poison_reader.READS if "skipping" in way])
def test_all_other_rows_come_when_it_is_skipped(buried: Buried, kind: str, way: str) -> None:
    """With skip_damaged, or scan.skip-damaged, exactly the bad batch is missing."""
    assert buried[kind, way].get("ids") == BEFORE + BEHIND, buried[kind, way]


def test_no_bad_batch_takes_more_memory_than_an_honest_one(buried: Buried) -> None:
    """A few kilobytes that claim gigabytes are refused before anything is made room for."""
    assert buried.peak_mb < PEAK_MB_MAX


def test_what_was_left_out_is_told(buried: Buried) -> None:
    """The scan says which offsets, and why."""
    kind = "bytes that are not UTF-8"
    with lakeward.connect(buried.server.bootstrap) as conn:
        scan = conn.table(buried.names[kind]).scan(skip_damaged=True)
        scan.to_arrow()
    (one,) = scan.left_out
    assert (one.start, one.stop) == buried.ranges[kind]
    assert "UTF8" in one.reason


def test_files_of_the_test_are_those_of_a_server(buried: Buried) -> None:
    """The server has kept what was put into its files, so that what is read above is poison indeed."""
    assert "Traceback" not in buried.server.log_text
    assert Path(buried.server.data_dir).exists()
