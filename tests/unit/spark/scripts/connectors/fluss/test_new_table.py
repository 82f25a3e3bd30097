"""What a cluster is asked for, and what it is not asked for."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.errors import LakewardError
from lakeward.language.statements.create_table import Distribution, PhysicalColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import BIGINT, STRING
from lakeward.spark.scripts.connectors.fluss.fluss_options import FlussOptions
from lakeward.spark.scripts.connectors.fluss.new_table import ClusterLimits, NewTable, new_table
from lakeward.spark.scripts.connectors.port import Surroundings


def make(options: dict[str, str], **rest: Any) -> NewTable:
    """The new table of a definition, on a cluster of one server with a lake."""
    columns = (PhysicalColumn("id", BIGINT(), "a number"), PhysicalColumn("dt", STRING()))
    table = TableDefinition(catalog="c", database="d", name="t", columns=columns, options=options, **rest)
    return new_table(
        table, FlussOptions.of(table, Surroundings()).properties, ClusterLimits(servers=1, lake_format="paimon")
    )


def test_everything_of_a_definition_arrives() -> None:
    """Columns, keys, partitions, buckets, comment and properties."""
    made = make(
        {"connector": "fluss", "table.log.ttl": "1 d", "bootstrap.servers": "h:1", "scan.startup.mode": "latest"},
        primary_key=("id", "dt"),
        partitioned_by=("dt",),
        distribution=Distribution(("id",), 3),
        comment="ours",
    )
    asked = made.descriptor
    assert [(c.name, str(c.type), c.comment) for c in asked.schema.columns] == [
        ("id", "BIGINT NOT NULL", "a number"),
        ("dt", "STRING NOT NULL", None),
    ]
    assert (asked.schema.primary_key, asked.partition_keys) == (("id", "dt"), ("dt",))
    assert (asked.bucket_keys, asked.bucket_count, asked.comment) == (("id",), 3, "ours")
    assert (asked.properties, asked.custom_properties) == ({"table.log.ttl": "1 d"}, {})
    assert made.notices == ()


def test_names_of_the_guide_become_ours() -> None:
    """The guide's retention, segments and tiering."""
    made = make({"log.retention.hours": "24", "log.tiering.interval.ms": "300000", "log.segment.bytes": "1024"})
    assert made.descriptor.properties == {
        "table.log.ttl": "24 h",
        "table.datalake.freshness": "300000 ms",
        "table.log.segment.file-size": "1024b",
    }
    assert made.notices == ()


@pytest.mark.parametrize(
    ("options", "notice"),
    [
        ({"table.auto-partition.enabled": "true", "table.auto-partition.time-unit": "day"}, "PARTITIONED BY"),
        ({"remote.data.dir": "s3://bucket/x"}, "a setting of the cluster"),
        ({"log.flush.messages": "1"}, "there is nothing like it here"),
    ],
)
def test_what_has_no_effect_is_told(options: dict[str, str], notice: str) -> None:
    """And left out."""
    made = make(options)
    assert made.descriptor.properties == {}
    (told,) = made.notices
    assert notice in told


def test_more_copies_than_servers() -> None:
    """There are as many copies as there can be."""
    made = make({"table.replication-factor": "3"})
    assert made.descriptor.properties == {"table.replication.factor": "1"}
    assert made.notices == (
        "'table.replication.factor' is 3, and the cluster has one server: there will be one copy of each row.",
    )


def test_another_lake_than_the_clusters() -> None:
    """The table goes where the cluster has its lake."""
    made = make({"table.datalake.format": "iceberg"})
    assert made.descriptor.properties == {"table.datalake.format": "paimon"}
    assert made.notices == (
        "'table.datalake.format' is iceberg, and the cluster's lake is paimon: that is where the table goes.",
    )


def test_freshness_of_its_own_wins() -> None:
    """Over the guide's interval, which is told."""
    made = make({"table.datalake.freshness": "1 min", "log.tiering.interval.ms": "300000"})
    assert made.descriptor.properties == {"table.datalake.freshness": "1 min"}
    assert made.notices == ("'log.tiering.interval.ms' has no effect beside 'table.datalake.freshness'.",)


def test_buckets_are_said_once() -> None:
    """Two ways that agree are one."""
    assert make({"bucket.num": "3"}, distribution=Distribution((), 3)).descriptor.bucket_count == 3
    with pytest.raises(LakewardError, match="leave one of them out"):
        make({"bucket.num": "4"}, distribution=Distribution((), 3))
