"""Bridge processes: kept and used again, replaced when they die, gone with their JVM."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

import lakeward as lw


def bridges() -> list[psutil.Process]:
    """The bridge processes of this process's JVM."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended by itself
            if "lakeward.spark.bridge" in process.cmdline():
                found.append(process)
    return found


@pytest.fixture
def table(conn: lw.Connection, database: str) -> str:
    """Ten batches of ten thousand rows in one bucket."""
    made = conn.create_table(f"{database}.t", "id BIGINT, v STRING", buckets=1)
    for n in range(10):
        made.append({"id": list(range(n * 10_000, (n + 1) * 10_000)), "v": ["x" * 100] * 10_000})
    return f"fluss.{database}.t"


def test_processes_are_used_again(spark: SparkSession, table: str) -> None:
    """Queries that follow one another start no new processes."""
    spark.table(table).agg({"id": "sum"}).collect()
    before = {p.pid for p in bridges()}
    for _ in range(3):
        spark.table(table).agg({"id": "sum"}).collect()
    assert {p.pid for p in bridges()} == before


def test_dead_processes_are_replaced(spark: SparkSession, table: str) -> None:
    """Who asks right after idle processes were killed may be told so, in one sentence; the next one is not."""
    spark.table(table).agg({"id": "sum"}).collect()
    for process in bridges():
        process.kill()
        process.wait()
    with contextlib.suppress(IllegalArgumentException):
        spark.table(table).count()
    assert spark.table(table).agg({"id": "sum"}).collect()[0][0] == sum(range(100_000))


def test_a_process_that_dies_in_the_middle_is_one_clear_error(spark: SparkSession, table: str, tmp_path: Path) -> None:
    """The error says what happened, and the next query works."""
    jvm = next(p.pid for p in psutil.Process().children(recursive=True) if p.name() == "java")
    told = tmp_path / "told"

    def kill_bridges(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not told.exists():
                told.touch()
                for process in psutil.Process(jvm).children():
                    with contextlib.suppress(psutil.Error):  # it has ended by itself
                        if "lakeward.spark.bridge" in process.cmdline():
                            process.kill()
            yield batch

    df = spark.table(table)
    with pytest.raises(IllegalArgumentException, match=r"The Python process \d+ of Lakeward ended") as dead:
        df.mapInArrow(kill_bridges, df.schema).write.format("noop").mode("overwrite").save()
    assert "\n" not in str(dead.value)
    assert df.agg({"id": "sum"}).collect()[0][0] == sum(range(100_000))


def test_the_socket_is_reachable_by_its_own_user_alone(spark: SparkSession, tmp_path: Path) -> None:
    """It lies in a directory that nobody else can enter, and is gone when the two have met, or failed to."""
    python, seen = tmp_path / "python", tmp_path / "seen"
    python.write_text(f'#!/bin/sh\nstat -c "%a %u %n" "$(dirname "$3")" > {seen}\nexit 1\n')
    python.chmod(0o700)
    with pytest.raises(Exception, match="could not be started"):
        spark.read.format("fluss").options(**{"bootstrap.servers": "x:1"}, python=str(python), table="a.b").load()
    mode, owner, directory = seen.read_text().split()
    assert (mode, int(owner)) == ("700", os.getuid())
    assert not Path(directory).exists()
