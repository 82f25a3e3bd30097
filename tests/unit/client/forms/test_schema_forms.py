"""A schema may be written as text, a dict, pairs, an Arrow schema or a Schema."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from lakeward.client.forms.schema_forms import columns_of, schema_of
from lakeward.errors import LakewardError
from lakeward.model.data_types import BIGINT, STRING
from lakeward.model.schema import Column, Schema

WANTED = Schema.of([("id", BIGINT()), ("name", STRING())])


@pytest.mark.parametrize(
    "given",
    [
        "id BIGINT, name STRING",
        {"id": "BIGINT", "name": "STRING"},
        {"id": BIGINT(), "name": pa.string()},
        pa.schema([("id", pa.int64()), ("name", pa.string())]),
        [("id", "BIGINT"), Column("name", STRING())],
        ["id BIGINT", "name STRING"],
        WANTED,
    ],
    ids=lambda g: type(g).__name__,
)
def test_every_form_gives_the_same_schema(given: Any) -> None:
    """They are spellings, not features."""
    assert schema_of(given) == WANTED
    assert [(c.name, c.type) for c in columns_of(given)] == [("id", BIGINT()), ("name", STRING())]


def test_a_primary_key_may_stand_in_the_text_or_apart() -> None:
    """Apart wins; key columns are NOT NULL either way."""
    text = "id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED"
    assert schema_of(text).primary_key == ("id",)
    assert schema_of(text, ["name"]).primary_key == ("name",)
    assert not schema_of(WANTED, ["id"]).column("id").type.nullable


@pytest.mark.parametrize("given", [5, [5], {"id": 5}, object(), pd.DataFrame({"id": [5]})])
def test_anything_else_is_refused_with_examples(given: Any) -> None:
    """The message shows what a schema looks like."""
    with pytest.raises(LakewardError, match="id INT, name STRING"):
        schema_of(given)


def test_a_column_without_a_name_is_refused_with_a_way_out() -> None:
    """Files that pandas wrote with its index begin with one."""
    with pytest.raises(LakewardError, match=r"Column 1 has no name; .* index=False"):
        schema_of({"": "BIGINT", "id": "INT"})


def test_one_column_of_a_key_needs_no_list_and_none_is_no_key() -> None:
    """`primary_key="id"` is not the columns i and d."""
    assert schema_of("id INT, name STRING", "id").primary_key == ("id",)
    assert schema_of({"id": "INT"}, None).primary_key == ()


def test_a_person_who_gives_no_columns_forgot_them() -> None:
    """The server would take it."""
    with pytest.raises(LakewardError, match="at least one column"):
        schema_of([])
