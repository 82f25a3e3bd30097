"""Connectors of scripts: rows into tables and out of them, by value."""

from __future__ import annotations

import contextlib
import csv
import json
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import ArithmeticException, StreamingQueryException
from server_process import ServerProcess

import lakeward as lw
from lakeward.errors import LakewardError
from lakeward.language.changes import Changes
from lakeward.language.statements.create_table import Distribution, MetadataColumn, PhysicalColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import BIGINT, STRING, TIMESTAMP_LTZ
from lakeward.model.type_text import parse_type
from lakeward.spark.scripts.connectors.port import Rows, Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def define(name: str, columns: str, **rest: Any) -> TableDefinition:
    """A table of a script: columns are `id BIGINT; name STRING`, options are given by name."""
    physical = []
    for column in columns.split(";"):
        column_name, _, type_ = column.strip().partition(" ")
        physical.append(PhysicalColumn(column_name, parse_type(type_)))
    return TableDefinition(
        catalog="default_catalog", database="default_database", name=name, columns=tuple(physical), **rest
    )


@pytest.fixture
def lines() -> list[str]:
    """What `print` wrote."""
    return []


@pytest.fixture
def connectors(server: ServerProcess, lines: list[str]) -> Connectors:
    """Those of a script whose server is the tests' server."""
    return Connectors(Surroundings(bootstrap_servers=server.bootstrap, write_line=lines.append))


@pytest.fixture
def name() -> str:
    """A table's name that nobody has used."""
    return f"t_{uuid4().hex[:8]}"


def begin_at(checkpoint: Path) -> Any:
    """A writer as a job hands it out: runs until everything there is was written."""

    def begin(frame: DataFrame) -> DataStreamWriter:
        return frame.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)

    return begin


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows, in order of their values."""
    return sorted((tuple(row) for row in frame.collect()), key=repr)


class TestFluss:
    """Tables of a cluster."""

    def test_a_log_table_is_made_written_and_read(
        self, spark: SparkSession, connectors: Connectors, conn: lw.Connection, name: str
    ) -> None:
        """CREATE TABLE makes it in the database `fluss`; a second one finds it."""
        table = define(name, "id BIGINT; item STRING; amount DECIMAL(10, 2)", options={"bucket.num": "2"})
        connector = connectors.connector_of(table)
        assert connector.ensure(table) == ()
        assert connector.ensure(table) == ()
        assert conn.table(f"fluss.{name}").info.bucket_count == 2
        sink = connector.sink(table)
        assert sink.takes is Changes.APPEND
        sink.write_batch(Rows(spark.sql("SELECT 1L AS id, 'pen' AS item, 2.50BD AS amount")))
        frame = connector.source(table).batch(spark)
        assert frame.columns == ["id", "item", "amount"]
        assert rows_of(frame) == [(1, "pen", Decimal("2.50"))]

    def test_a_stream_of_a_log_table_is_rows(
        self, spark: SparkSession, connectors: Connectors, name: str, tmp_path: Path
    ) -> None:
        """What is written by a stream is read by a stream, once."""
        table, copy = define(name, "id BIGINT; item STRING"), define(f"{name}_copy", "id BIGINT; item STRING")
        connector = connectors.connector_of(table)
        connector.ensure(table)
        connector.ensure(copy)
        connector.sink(table).write_batch(Rows(spark.sql("SELECT id, concat('i', id) AS item FROM range(5)")))
        source = connector.source(table)
        assert source.changes is Changes.APPEND
        for _ in range(2):
            query = connector.sink(copy).write_stream(Rows(source.stream(spark)), begin_at(tmp_path))
            query.awaitTermination(60)
        assert rows_of(connector.source(copy).batch(spark)) == [(n, f"i{n}") for n in range(5)]

    def test_changes_go_from_one_primary_key_table_to_another(
        self, spark: SparkSession, connectors: Connectors, conn: lw.Connection, name: str, tmp_path: Path
    ) -> None:
        """Inserts, updates and deletes, by the change type."""
        table = define(name, "id BIGINT; item STRING", primary_key=("id",))
        copy = replace(table, name=f"{name}_copy")
        connector = connectors.connector_of(table)
        connector.ensure(table)
        connector.ensure(copy)
        own = conn.table(f"fluss.{name}")
        own.upsert([{"id": 1, "item": "pen"}, {"id": 2, "item": "ink"}])
        source = connector.source(table)
        assert source.changes is Changes.CHANGELOG
        sink = connector.sink(copy)
        assert sink.takes is Changes.UPSERT

        def run() -> None:
            frame = source.stream(spark)
            assert frame.columns == ["_change_type", "id", "item"]
            sink.write_stream(Rows(frame, has_changes=True), begin_at(tmp_path)).awaitTermination(60)

        run()
        assert rows_of(connector.source(copy).batch(spark)) == [(1, "pen"), (2, "ink")]
        own.upsert([{"id": 1, "item": "pencil"}])
        own.delete([{"id": 2}])
        run()
        assert rows_of(connector.source(copy).batch(spark)) == [(1, "pencil")]

    def test_changes_are_written_as_a_batch(self, spark: SparkSession, connectors: Connectors, name: str) -> None:
        """A delete deletes, unless deletes are ignored."""
        table = define(name, "id BIGINT; item STRING", primary_key=("id",))
        connector = connectors.connector_of(table)
        connector.ensure(table)
        connector.sink(table).write_batch(Rows(spark.sql("SELECT id, 'x' AS item FROM range(3)")))
        deleted = spark.sql("SELECT 'delete' AS _change_type, 1L AS id, 'x' AS item")
        keeping = replace(table, options={"sink.ignore-delete": "true"})
        connector.sink(keeping).write_batch(Rows(deleted, has_changes=True))
        assert rows_of(connector.source(table).batch(spark)) == [(0, "x"), (1, "x"), (2, "x")]
        connector.sink(table).write_batch(Rows(deleted, has_changes=True))
        assert rows_of(connector.source(table).batch(spark)) == [(0, "x"), (2, "x")]
        connector.sink(table).write_batch(Rows(spark.sql("SELECT 7L AS id, 'y' AS item")), overwrite=True)
        assert rows_of(connector.source(table).batch(spark)) == [(7, "y")]

    def test_metadata_columns_of_a_log(self, spark: SparkSession, connectors: Connectors, name: str) -> None:
        """Offset and time of each row, under the names and in the order of the definition."""
        table = define(name, "id BIGINT", options={"bucket.num": "1"})
        with_metadata = replace(
            table,
            columns=(
                MetadataColumn("at", TIMESTAMP_LTZ(3), "timestamp"),
                *table.columns,
                MetadataColumn("offset", BIGINT(), "offset"),
            ),
        )
        connector = connectors.connector_of(table)
        connector.ensure(with_metadata)
        connector.sink(table).write_batch(Rows(spark.sql("SELECT id + 10 AS id FROM range(0, 3, 1, 1)")))
        frame = connector.source(with_metadata).batch(spark)
        assert frame.columns == ["at", "id", "offset"]
        assert rows_of(frame.select("id", "offset")) == [(10, 0), (11, 1), (12, 2)]
        assert connector.source(with_metadata).stream(spark).columns == ["at", "id", "offset"]

    def test_what_a_stream_of_a_table_is(self, connectors: Connectors, name: str) -> None:
        """Rows by key without what was before, or only rows, where the table says so."""
        for number, (option, changes) in enumerate(
            [(("table.changelog.image", "wal"), Changes.UPSERT), (("table.merge-engine", "first_row"), Changes.APPEND)]
        ):
            table = define(f"{name}_{number}", "id BIGINT; v INT", primary_key=("id",), options=dict([option]))
            connector = connectors.connector_of(table)
            connector.ensure(table)
            assert connector.source(table).changes is changes

    def test_a_table_with_another_shape_is_refused(self, connectors: Connectors, name: str) -> None:
        """The first difference is named."""
        table = define(name, "id BIGINT; item STRING", primary_key=("id",), options={"bucket.num": "1"})
        connector = connectors.connector_of(table)
        connector.ensure(table)
        for other, difference in (
            (define(name, "id INT; item STRING", primary_key=("id",)), "its column id is BIGINT NOT NULL, not INT NOT"),
            (define(name, "id BIGINT; price INT", primary_key=("id",)), "its column 2 is item, not price"),
            (define(name, "id BIGINT", primary_key=("id",)), "it has a further column item"),
            (define(name, "id BIGINT; item STRING; x INT", primary_key=("id",)), "it has no column x"),
            (replace(table, primary_key=()), "its column id is BIGINT NOT NULL, not BIGINT"),
            (replace(table, distribution=Distribution((), 3), options={}), "it has one bucket, not 3"),
        ):
            with pytest.raises(LakewardError, match="is there already") as wrong:
                connector.ensure(other)
            assert difference in str(wrong.value)

    def test_a_name_and_a_database_of_its_own(
        self, spark: SparkSession, connectors: Connectors, conn: lw.Connection, name: str
    ) -> None:
        """'table.name' says where the table is; the database is made."""
        table = define("alias", "id BIGINT", options={"connector": "fluss", "table.name": f"{name}_db.own"})
        connector = connectors.connector_of(table)
        connector.ensure(table)
        connector.sink(table).write_batch(Rows(spark.sql("SELECT 1L AS id")))
        assert conn.tables(f"{name}_db") == ["own"]
        assert rows_of(connector.source(table).batch(spark)) == [(1,)]
        conn.drop_database(f"{name}_db", cascade=True)


class TestPrint:
    """Rows as lines."""

    def test_rows_are_lines(self, spark: SparkSession, connectors: Connectors, lines: list[str]) -> None:
        """In order, with the mark of the change and the identifier."""
        table = define("p", "id BIGINT; v STRING", options={"connector": "print", "print-identifier": "out"})
        sink = connectors.connector_of(table).sink(table)
        sink.write_batch(Rows(spark.sql("SELECT 1L AS id, 'a' AS v UNION ALL SELECT 2L, NULL")))
        changes = "SELECT 'update_before' AS _change_type, 1L AS id, 'a' AS v UNION ALL SELECT 'update_after', 1L, 'b'"
        sink.write_batch(Rows(spark.sql(changes), has_changes=True))
        assert lines == ["out> +I[1, a]", "out> +I[2, null]", "out> -U[1, a]", "out> +U[1, b]"]

    def test_values_look_as_in_java(self, spark: SparkSession, connectors: Connectors, lines: list[str]) -> None:
        """Fractions, times, arrays, maps and rows."""
        table = define("p", "x STRING", options={"connector": "print"})
        sink = connectors.connector_of(table).sink(table)
        query = (
            "SELECT 1.5D, 1e10D, CAST(0.1 AS FLOAT), true, 2.50BD, DATE'2026-11-01',"
            " TIMESTAMP_NTZ'2026-11-01 00:00:00', TIMESTAMP_NTZ'2026-11-01 01:02:03.5',"
            " TIMESTAMP'2026-11-01 00:00:00Z', array(1, 2), map('k', 1),"
            " named_struct('a', 1, 'b', 'x'), X'01FF'"
        )
        sink.write_batch(Rows(spark.sql(query)))
        (line,) = lines
        assert line == (
            "+I[1.5, 1.0E10, 0.1, true, 2.50, 2026-11-01, 2026-11-01T00:00, 2026-11-01T01:02:03.500,"
            " 2026-11-01T00:00:00Z, [1, 2], {k=1}, +I[1, x], [1, -1]]"
        )

    def test_a_stream_is_printed(
        self, spark: SparkSession, connectors: Connectors, lines: list[str], name: str, tmp_path: Path
    ) -> None:
        """Every row of a table, once."""
        table = define(name, "id BIGINT", options={"bucket.num": "1"})
        connectors.connector_of(table).ensure(table)
        connectors.connector_of(table).sink(table).write_batch(Rows(spark.range(0, 3, 1, 1)))
        out = define("p", "id BIGINT", options={"connector": "print"})
        frame = connectors.connector_of(table).source(table).stream(spark)
        connectors.connector_of(out).sink(out).write_stream(Rows(frame), begin_at(tmp_path)).awaitTermination(60)
        assert lines == ["+I[0]", "+I[1]", "+I[2]"]


def test_a_blackhole_takes_everything(spark: SparkSession, connectors: Connectors) -> None:
    """And cannot be read."""
    table = define("b", "id BIGINT", options={"connector": "blackhole"})
    connector = connectors.connector_of(table)
    with pytest.raises(ArithmeticException):  # every row is computed
        connector.sink(table).write_batch(Rows(spark.sql("SELECT 1 DIV (id - 6) AS id FROM range(7)")))
    connector.sink(table).write_batch(Rows(spark.range(7).toDF("id")))
    with pytest.raises(LakewardError, match="keeps no rows"):
        connector.source(table)


class TestDatagen:
    """Rows that are made up."""

    def test_a_batch_has_every_row(self, spark: SparkSession, connectors: Connectors) -> None:
        """A sequence ends it; the same rows come again."""
        options = {
            "connector": "datagen",
            "fields.id.kind": "sequence",
            "fields.id.start": "1",
            "fields.id.end": "1000",
        }
        columns = "id BIGINT; name STRING; tags ARRAY<STRING>; who ROW<a INT, b MAP<INT, DECIMAL(5, 1)>>"
        table = define("gen", columns, options={"connector": "datagen", "fields.name.length": "3", **options})
        connector = connectors.connector_of(table)
        assert connector.ensure(table) == ()
        source = connector.source(table)
        assert source.is_bounded
        found = rows_of(source.batch(spark))
        assert sorted(row[0] for row in found) == list(range(1, 1001))
        assert {len(row[1]) for row in found} == {3}
        assert rows_of(source.batch(spark)) == found

    def test_rows_without_an_end_are_no_batch(self, spark: SparkSession, connectors: Connectors) -> None:
        """What to do is said."""
        table = define("gen", "id BIGINT", options={"connector": "datagen"})
        source = connectors.connector_of(table).source(table)
        assert not source.is_bounded
        with pytest.raises(LakewardError, match="number-of-rows"):
            source.batch(spark)

    @pytest.mark.long
    def test_a_stream_goes_on_after_its_last_row(
        self, spark: SparkSession, connectors: Connectors, name: str, tmp_path: Path
    ) -> None:
        """Stopped in the middle and begun again: each row once, in the end all of them."""
        table = define(
            "gen",
            "id BIGINT; item STRING",
            options={
                "connector": "datagen",
                "rows-per-second": "2000",
                "fields.id.kind": "sequence",
                "fields.id.start": "1",
                "fields.id.end": "5000",
            },
        )
        target = define(name, "id BIGINT; item STRING", options={"bucket.num": "1"})
        source, sink = (connectors.connector_of(table).source(table), connectors.connector_of(target))
        sink.ensure(target)

        def begin(frame: DataFrame) -> DataStreamWriter:
            return frame.writeStream.option("checkpointLocation", str(tmp_path))

        for rows_wanted in (1, 5000):
            query = sink.sink(target).write_stream(Rows(source.stream(spark)), begin)
            written: list[int] = [0]
            while query.isActive and written[-1] < rows_wanted:
                if query.lastProgress is not None and query.lastProgress.sources[0].endOffset is not None:
                    end = query.lastProgress.sources[0].endOffset
                    written.append(json.loads(end)["rows"])
                    assert source.is_finished(end) is (written[-1] == 5000)
                time.sleep(0.05)
            query.stop()
        expected = rows_of(source.batch(spark))
        assert rows_of(sink.source(target).batch(spark)) == expected
        assert len(expected) == 5000

    @pytest.mark.long
    def test_a_micro_batch_that_is_done_again_holds_the_same_rows(
        self, spark: SparkSession, connectors: Connectors, tmp_path: Path
    ) -> None:
        """Times included."""
        columns = "id BIGINT; at TIMESTAMP(3); item STRING"
        table = define("gen", columns, options={"connector": "datagen", "number-of-rows": "50"})
        source = connectors.connector_of(table).source(table)
        seen: list[list[tuple[Any, ...]]] = []

        def fail_once(frame: DataFrame, batch_id: int) -> None:
            seen.append(rows_of(frame))
            if len(seen) == 1:
                raise RuntimeError("the first time goes wrong")

        for _ in range(2):
            writer = source.stream(spark).writeStream.option("checkpointLocation", str(tmp_path))
            query = writer.trigger(availableNow=True).foreachBatch(fail_once).start()
            with contextlib.suppress(StreamingQueryException):
                query.awaitTermination(60)
        assert len(seen) == 2
        assert seen[0] == seen[1]
        assert len(seen[0]) == 50


class TestFilesystem:
    """Files in a directory."""

    COLUMNS = "id BIGINT; name STRING; at TIMESTAMP(3); price DECIMAL(8, 2); dt STRING"

    @staticmethod
    def rows(spark: SparkSession) -> DataFrame:
        """Three rows in two partitions."""
        return spark.sql(
            "SELECT id, concat('n, ', id) AS name, TIMESTAMP_NTZ'2026-11-01 10:00:00.5' AS at,"
            " CAST(id AS DECIMAL(8, 2)) / 4 AS price, IF(id < 2, 'a', 'b') AS dt FROM range(3)"
        ).selectExpr("id", "name", "at", "CAST(price AS DECIMAL(8, 2)) AS price", "dt")

    @pytest.mark.parametrize("kind", ["csv", "json", "parquet", "orc"])
    def test_rows_come_back(self, spark: SparkSession, connectors: Connectors, tmp_path: Path, kind: str) -> None:
        """In every format, with partitions, added to and overwritten."""
        options = {"connector": "filesystem", "path": str(tmp_path / "t"), "format": kind}
        table = define("files", self.COLUMNS, partitioned_by=("dt",), options=options)
        connector = connectors.connector_of(table)
        assert connector.ensure(table) == ()
        connector.sink(table).write_batch(Rows(self.rows(spark)))
        assert sorted(path.name for path in (tmp_path / "t").glob("dt=*")) == ["dt=a", "dt=b"]
        frame = connector.source(table).batch(spark)
        assert frame.columns == ["id", "name", "at", "price", "dt"]
        expected = rows_of(self.rows(spark))
        assert rows_of(frame) == expected
        connector.sink(table).write_batch(Rows(self.rows(spark).where("id = 2")))
        assert len(rows_of(connector.source(table).batch(spark))) == 4
        connector.sink(table).write_batch(Rows(self.rows(spark).where("id = 2")), overwrite=True)
        assert rows_of(connector.source(table).batch(spark)) == expected

    def test_what_is_malformed_is_an_error_with_the_file(
        self, spark: SparkSession, connectors: Connectors, tmp_path: Path
    ) -> None:
        """Or it is left out, if the table says so."""
        (tmp_path / "x.json").write_text('{"id": 1, "v": "a"}\n{"id": "no", "v": "b"}\nnonsense\n')
        options = {"connector": "filesystem", "path": str(tmp_path), "format": "json"}
        table = define("files", "id BIGINT; v STRING", options=options)
        connector = connectors.connector_of(table)
        with pytest.raises(Exception, match=r"x\.json"):
            connector.source(table).batch(spark).count()
        lenient = replace(table, options={**options, "json.ignore-parse-errors": "true"})
        assert rows_of(connector.source(lenient).batch(spark)) == [(1, "a"), (None, "b")]

    def test_options_of_csv(self, spark: SparkSession, connectors: Connectors, tmp_path: Path) -> None:
        """Delimiter, comments, NULL, and a row that is too short."""
        (tmp_path / "x.csv").write_text("# ids\n1;a\n2;NIL\n")
        options = {"connector": "filesystem", "path": tmp_path.as_uri(), "format": "csv", "csv.field-delimiter": ";"}
        options |= {"csv.allow-comments": "true", "csv.null-literal": "NIL"}
        table = define("files", "id BIGINT; v STRING", options=options)
        connector = connectors.connector_of(table)
        assert rows_of(connector.source(table).batch(spark)) == [(1, "a"), (2, None)]
        (tmp_path / "y.csv").write_text("3\n")
        with pytest.raises(Exception, match=r"y\.csv"):
            connector.source(table).batch(spark).select("id").collect()

    @pytest.mark.parametrize("more", [{}, {"csv.null-literal": "NIL"}, {"csv.header": "true"}])
    def test_texts_of_csv_come_back(
        self, spark: SparkSession, connectors: Connectors, tmp_path: Path, more: dict[str, str]
    ) -> None:
        """Blanks, quotes, line breaks, backslashes, nothing and NULL; quotes are written as everybody writes them."""
        options = {"connector": "filesystem", "path": str(tmp_path), "format": "csv", **more}
        table = define("files", "id BIGINT; v STRING", options=options)
        connector = connectors.connector_of(table)
        texts = [None, "", " both ", 'he said "hi"', "a,b", "two\nlines", "back\\slash", "\\", "#", "ends with \\"]
        given = [(number, text) for number, text in enumerate(texts)]
        frame = spark.createDataFrame(given, "id BIGINT, v STRING").coalesce(1)
        connector.sink(table).write_batch(Rows(frame))
        assert rows_of(connector.source(table).batch(spark)) == given
        (file,) = tmp_path.glob("part-*")
        with file.open(newline="") as lines:
            read = [line[1] for line in csv.reader(lines)][bool(more.get("csv.header")) :]
        assert read == [more.get("csv.null-literal", "") if text is None else text for text in texts]

    def test_a_line_that_does_not_fit_is_shown(
        self, spark: SparkSession, connectors: Connectors, tmp_path: Path
    ) -> None:
        """With its file, in one sentence."""
        (tmp_path / "x.csv").write_text("1,a\nx,b\n")
        options = {"connector": "filesystem", "path": str(tmp_path), "format": "csv"}
        table = define("files", "id BIGINT; v STRING", options=options)
        with pytest.raises(Exception, match="Malformed") as wrong:
            connectors.connector_of(table).source(table).batch(spark).toArrow()
        told = failure_sentence(wrong.value)
        assert told.startswith(f"the file file://{tmp_path}/x.csv has a line that does not fit the table's columns: [")
        assert "\n" not in told

    def test_lines_and_metadata(self, spark: SparkSession, connectors: Connectors, tmp_path: Path) -> None:
        """The format `raw`, and the name of the file."""
        (tmp_path / "x.txt").write_text("one\ntwo\n")
        options = {"connector": "filesystem", "path": str(tmp_path), "format": "raw"}
        table = define("files", "line STRING", options=options)
        named = replace(table, columns=(*table.columns, MetadataColumn("file", STRING(), "file.name")))
        frame = connectors.connector_of(table).source(named).batch(spark)
        assert rows_of(frame) == [("one", "x.txt"), ("two", "x.txt")]

    def test_a_stream_of_files_ends_or_not(
        self, spark: SparkSession, connectors: Connectors, name: str, tmp_path: Path
    ) -> None:
        """By 'source.monitor-interval'; each file is read once."""
        (tmp_path / "in").mkdir()
        options = {"connector": "filesystem", "path": str(tmp_path / "in"), "format": "json"}
        table, target = define("files", "id BIGINT", options=options), define(name, "id BIGINT")
        endless = replace(table, options={**options, "source.monitor-interval": "1 s"})
        connector, sink = connectors.connector_of(table), connectors.connector_of(target)
        sink.ensure(target)
        assert connector.source(table).is_bounded
        assert not connector.source(endless).is_bounded
        for number in range(2):
            (tmp_path / "in" / f"{number}.json").write_text(f'{{"id": {number}}}\n')
            frame = connector.source(endless).stream(spark)
            sink.sink(target).write_stream(Rows(frame), begin_at(tmp_path / "c")).awaitTermination(60)
        assert rows_of(sink.source(target).batch(spark)) == [(0,), (1,)]

    @pytest.mark.long
    def test_a_micro_batch_that_is_done_again_is_there_once(
        self, spark: SparkSession, connectors: Connectors, tmp_path: Path
    ) -> None:
        """Also for readers that only list the directory."""
        generated = {"fields.id.kind": "sequence", "fields.id.start": "1", "fields.id.end": "100"}
        numbers = define("gen", "id BIGINT; dt BOOLEAN", options={"connector": "datagen", **generated})
        options = {"connector": "filesystem", "path": str(tmp_path / "out"), "format": "parquet"}
        table = define("files", "id BIGINT; dt BOOLEAN", partitioned_by=("dt",), options=options)
        source, sink = (connectors.connector_of(numbers).source(numbers), connectors.connector_of(table).sink(table))
        for _ in range(2):
            frame = source.stream(spark)
            sink.write_stream(Rows(frame), begin_at(tmp_path / "c")).awaitTermination(60)
            for commit in (tmp_path / "c" / "commits").glob("*"):
                commit.unlink()  # as if the driver had died before it could say that the batch was done
        listed = [path for path in (tmp_path / "out").rglob("*.parquet") if "_staging" not in path.parts]
        found = pa.concat_tables([pq.read_table(path, partitioning=None) for path in listed])
        assert sorted(found.column("id").to_pylist()) == list(range(1, 101))

    def test_what_is_missing_is_named(self, spark: SparkSession, connectors: Connectors, tmp_path: Path) -> None:
        """Path, format, and the directory itself."""
        for options, why in (
            ({"format": "csv"}, "needs the option 'path'"),
            ({"path": "/x"}, "needs the option 'format'"),
            ({"path": "/x", "format": "xml"}, "is not one of csv, json"),
        ):
            table = define("files", "id BIGINT", options={"connector": "filesystem", **options})
            with pytest.raises(LakewardError, match=why):
                connectors.connector_of(table).ensure(table)
        gone = {"connector": "filesystem", "path": str(tmp_path / "no"), "format": "csv"}
        table = define("files", "id BIGINT", options=gone)
        with pytest.raises(LakewardError, match="put files there"):
            connectors.connector_of(table).source(table).batch(spark)
