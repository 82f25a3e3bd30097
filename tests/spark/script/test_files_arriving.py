"""Files that arrive while a job runs, as people leave them: half-written, compressed, empty, broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from eventually import eventually
from script_bench import Bench

from lakeward.errors import LakewardError
from lakeward.spark.scripts.jobs.job_record import JobState

COLUMNS = "(id BIGINT, name STRING, price DECIMAL(10, 2))"


def files(path: Path, format_: str, **more: str) -> str:
    """CREATE TABLE … of a directory that is watched."""
    options = {"connector": "filesystem", "path": str(path), "format": format_, "source.monitor-interval": "1 s"} | more
    told = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TEMPORARY TABLE {format_}_files {COLUMNS} WITH ({told});"


def test_files_become_rows_once(bench: Bench, tmp_path: Path) -> None:
    """Of three formats; names that begin with a dot or an underscore are not looked at until they are renamed."""
    places = {name: tmp_path / name for name in ("csv", "json", "parquet")}
    for place in places.values():
        place.mkdir()
    bench.run(f"CREATE TABLE arrived {COLUMNS};" + "".join(files(place, name) for name, place in places.items()))
    (places["csv"] / "a.csv").write_text('1,"a, b",1.50\n')
    bench.run(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO arrived SELECT * FROM csv_files;"
        " INSERT INTO arrived SELECT * FROM json_files; INSERT INTO arrived SELECT * FROM parquet_files; END"
    )
    (places["json"] / ".b.json.tmp").write_text('{"id": 2, "na')
    (places["json"] / "_half.json").write_text('{"id": 9, "na')
    with gzip.open(places["json"] / "c.json.gz", "wt") as out:
        out.write('{"id": 3, "price": 3.25, "more": 1}\n')
    (places["csv"] / "empty.csv").touch()
    half = places["parquet"] / ".d.parquet.tmp"
    pq.write_table(pa.table({"id": [4], "name": ["d"]}), half)
    bench.settle()
    assert [row[0] for row in bench.table("arrived")] == [1, 3]
    (places["json"] / ".b.json.tmp").write_text('{"id": 2, "name": "b", "price": "2.00"}\n')
    (places["json"] / ".b.json.tmp").rename(places["json"] / "b.json")
    half.rename(places["parquet"] / "d.parquet")
    bench.settle()
    found = [(row[0], row[1], None if row[2] is None else str(row[2])) for row in bench.table("arrived")]
    assert found == [(1, "a, b", "1.50"), (2, "b", "2.00"), (3, None, "3.25"), (4, "d", None)]


def test_a_file_that_cannot_be_read_is_named(bench: Bench, tmp_path: Path) -> None:
    """The job stops and names the file; mended, it goes on where it was, and rows are there once."""
    place = tmp_path / "in"
    place.mkdir()
    bench.run(f"CREATE TABLE arrived {COLUMNS};" + files(place, "json") + "SET 'pipeline.name' = 'files'")
    (place / "a.json").write_text('{"id": 1, "name": "a"}\n')
    bench.run("INSERT INTO arrived SELECT * FROM json_files")
    (job,) = bench.script.jobs.running
    (place / "broken.json").write_text('{"id": 2, "name": "b"}\n{"id": 3, "na\n')
    with pytest.raises(Exception, match=r"broken\.json"):
        bench.settle()
    assert eventually(lambda: job.state is JobState.FAILED)
    assert "broken.json" in (job.error or "")
    assert "\tat " not in (job.error or "")
    (place / "broken.json").write_text('{"id": 2, "name": "b"}\n{"id": 3, "name": "c"}\n')
    bench.restart()
    bench.run(files(place, "json") + "SET 'pipeline.name' = 'files'; INSERT INTO arrived SELECT * FROM json_files")
    assert [row[:2] for row in bench.table("arrived")] == [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.long
def test_a_bucket_that_spark_cannot_reach_says_what_is_missing(bench: Bench) -> None:
    """`hadoop-aws` does not come from PyPI."""
    place = "'connector' = 'filesystem', 'path' = 's3://bucket/in', 'format' = 'csv'"
    bench.run(f"CREATE TEMPORARY TABLE csv_files {COLUMNS} WITH ({place})")
    with pytest.raises(LakewardError, match="Spark cannot reach s3a://bucket/in: put hadoop-aws on its class path"):
        bench.rows("SELECT * FROM csv_files")
