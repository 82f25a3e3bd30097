"""Connectors are found by name, and options are checked against their rows."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.language.statements.create_table import PhysicalColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import BIGINT
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors, known_names


def table(**options: str) -> TableDefinition:
    """A table with these options; `_` stands for `.`, as in `bucket_num`."""
    return TableDefinition(
        catalog="c",
        database="d",
        name="t",
        columns=(PhysicalColumn("id", BIGINT()),),
        options={key.replace("__", "-").replace("_", "."): value for key, value in options.items()},
    )


def find(**options: str) -> str:
    """The connector's name."""
    return Connectors(Surroundings()).connector_of(table(**options)).name


def test_without_a_name_it_is_fluss() -> None:
    """A table of a script is a table of the cluster."""
    assert find() == "fluss"
    assert find(connector="print", print__identifier="x") == "print"


def test_a_misspelt_name_is_told_the_right_one() -> None:
    """And all that there are."""
    with pytest.raises(LakewardError, match="did you mean 'blackhole'") as wrong:
        find(connector="blackhol")
    assert all(name in str(wrong.value) for name in known_names())


def test_connectors_that_are_not_there_yet() -> None:
    """The way to get one is named."""
    with pytest.raises(LakewardError, match="nothing that is installed provides the connector 'pulsar'") as wrong:
        find(connector="pulsar", topic="events")
    assert "entry point of the group 'lakeward.connectors'" in str(wrong.value)


def test_an_unknown_option_is_told_the_near_one() -> None:
    """With the table and the connector."""
    with pytest.raises(LakewardError, match="is not an option of the connector") as wrong:
        find(bucket_nmu="4")
    assert "'bucket.num'" in str(wrong.value)


def test_values_are_read_before_anything_is_done() -> None:
    """A wrong one is named with what was expected; a secret is not repeated."""
    with pytest.raises(LakewardError, match="'four' is not a whole number"):
        find(bucket_num="four")
    with pytest.raises(LakewardError, match="Invalid value for config"):
        find(log_retention_hours="soon")
