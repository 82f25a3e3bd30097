"""Schemas of Paimon tables are those that Apache Fluss's coordinator creates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from lake_tables import made_for, table_info

from lakeward.errors import LakewardError
from lakeward.lake.paimon.schema.schema_file import PaimonSchema, check_types, create_schema, newest_schema, schema_of
from lakeward.model.data_types import INT, ROW, STRING
from lakeward.model.schema import Column

SYSTEM = [
    {"id": 2, "name": "__bucket", "type": "INT"},
    {"id": 3, "name": "__offset", "type": "BIGINT"},
    {"id": 4, "name": "__timestamp", "type": "TIMESTAMP(3) WITH LOCAL TIME ZONE"},
]
TOLD = {"table.datalake.enabled": "true", "table.replication.factor": "1"}


def test_a_log_table_is_created_as_apache_fluss_creates_it() -> None:
    """Not bucketed, the system columns at the end, our properties behind `fluss.`."""
    info = table_info({"id": "BIGINT", "x": "STRING"})
    info = replace(info, descriptor=replace(info.descriptor, properties=TOLD, custom_properties={"owner": "ann"}))
    assert json.loads(schema_of(info, 1794720986732).to_json()) == {
        "version": 3,
        "id": 0,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT"}, {"id": 1, "name": "x", "type": "STRING"}, *SYSTEM],
        "highestFieldId": 4,
        "partitionKeys": [],
        "primaryKeys": [],
        "options": {
            "bucket": "-1",
            "partition.legacy-name": "false",
            "fluss.table.datalake.enabled": "true",
            "fluss.table.replication.factor": "1",
            "fluss.owner": "ann",
        },
        "timeMillis": 1794720986732,
    }


def test_a_primary_key_table_is_created_as_apache_fluss_creates_it() -> None:
    """Bucketed by its bucket key, with a changelog of what was put in."""
    found = schema_of(made_for("paimon", table_info({"id": "INT NOT NULL", "name": "STRING"}, key="id", buckets=1)), 0)
    assert found.primary_keys == ("id",)
    assert found.fields[0].type == "INT NOT NULL"
    assert found.options == {
        "bucket": "1",
        "bucket-key": "id",
        "changelog-producer": "input",
        "fluss.table.datalake.format": "paimon",
        "partition.legacy-name": "false",
    }


def test_keys_in_other_buckets_than_paimons_are_refused_and_rows_need_none() -> None:
    """A table that was not made for Paimon: its readers would look for keys where they are not."""
    keyed = table_info({"id": "INT NOT NULL"}, key="id")
    with pytest.raises(LakewardError, match="tier it into Iceberg"):
        schema_of(keyed, 0)
    log = table_info({"id": "INT"})
    bucketed = replace(log, descriptor=replace(log.descriptor, bucket_keys=("id",)))
    assert schema_of(bucketed, 0).options["bucket"] == "-1"
    assert schema_of(made_for("paimon", bucketed), 0).options["bucket-key"] == "id"


def test_options_of_paimon_are_passed_on() -> None:
    """What a table says in `paimon.*` is an option of the lake's table."""
    info = table_info({"id": "BIGINT"})
    info = replace(info, descriptor=replace(info.descriptor, custom_properties={"paimon.file.compression": "lz4"}))
    assert schema_of(info, 0).options["file.compression"] == "lz4"


def test_a_schema_is_read_back_and_each_version_is_written_once(tmp_path: Path) -> None:
    """The newest version wins by its number, not by its name."""
    first = schema_of(table_info({"id": "BIGINT"}), 7)
    assert newest_schema(tmp_path) is None
    for number in (0, 9, 10):
        assert create_schema(tmp_path, replace(first, id=number))
    assert not create_schema(tmp_path, first)
    assert newest_schema(tmp_path) == replace(first, id=10)
    assert PaimonSchema.read(tmp_path / "schema" / "schema-0") == first


def test_new_columns_come_before_the_system_columns_with_ids_never_used() -> None:
    """The fields of a ROW count as well."""
    first = schema_of(table_info({"id": "BIGINT"}), 0)
    inner = Column("inner", ROW([("x", INT()), ("y", STRING())]), comment="c")
    found = first.with_columns([inner, Column("z", INT().not_null())], 5)
    assert [(f.id, f.name) for f in found.fields][:3] == [(0, "id"), (4, "inner"), (7, "z")]
    assert [f["id"] for f in found.fields[1].type["fields"]] == [5, 6]
    assert (found.id, found.highest_field_id, found.time_ms) == (1, 7, 5)
    assert found.fields[2].type == "INT"  # old rows have no value


def test_a_lake_column_of_another_type_is_refused() -> None:
    """Another table of that name is in the lake."""
    lake = schema_of(table_info({"id": "INT"}), 0)
    with pytest.raises(LakewardError, match=r"'id' of shop\.orders is INT in the lake"):
        check_types(lake, table_info({"id": "BIGINT"}))
