"""Any Paimon table in our words."""

from __future__ import annotations

from itertools import count

import pytest

from lakeward.errors import LakewardError
from lakeward.lake.paimon.schema.described_schema import describe_schema
from lakeward.lake.paimon.schema.schema_file import PaimonField, PaimonSchema
from lakeward.lake.paimon.schema.types import paimon_type
from lakeward.model.table import TablePath
from lakeward.model.type_text import parse_type

TYPES = (
    *("BOOLEAN", "TINYINT", "INT NOT NULL", "DECIMAL(10, 2)", "CHAR(3)", "STRING", "BINARY(4)", "BYTES", "DATE"),
    *("TIME(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3) NOT NULL", "ARRAY<INT NOT NULL>", "MAP<STRING NOT NULL, DOUBLE>"),
    "ROW<a INT, b ARRAY<ROW<c TIMESTAMP_LTZ(6)>>> NOT NULL",
)


def schema(*forms: object, keys: tuple[str, ...] = ()) -> PaimonSchema:
    """A schema with these types as Paimon writes them."""
    fields = tuple(PaimonField(n, f"c{n}", form) for n, form in enumerate(forms))
    return PaimonSchema(0, fields, len(fields), (), keys, {}, "ours", 0)


def test_every_type_comes_back() -> None:
    """As it was before it became Paimon's."""
    forms = [paimon_type(parse_type(type_), count()) for type_ in TYPES]
    info = describe_schema(TablePath("d", "t"), schema(*forms))
    assert [str(column.type) for column in info.schema.columns] == list(TYPES)
    assert info.descriptor.comment == "ours"


def test_types_of_other_writers() -> None:
    """Texts and bytes with a length, and moments without one."""
    forms = ("VARCHAR(20)", "VARBINARY(9) NOT NULL", "TIMESTAMP WITH LOCAL TIME ZONE")
    info = describe_schema(TablePath("d", "t"), schema(*forms, keys=("c1",)))
    assert [str(column.type) for column in info.schema.columns] == ["STRING", "BYTES NOT NULL", "TIMESTAMP_LTZ(6)"]
    assert info.schema.primary_key == ("c1",)


def test_a_type_that_we_have_no_word_for() -> None:
    """Is refused with its column."""
    with pytest.raises(LakewardError, match="its column 'c0' is VARIANT"):
        describe_schema(TablePath("d", "t"), schema("VARIANT"))
