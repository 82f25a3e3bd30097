"""Partition names, specs, and the text of values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model import partition
from lakeward.model.data_types import ARRAY, BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INT, STRING, TIME, TIMESTAMP
from lakeward.model.type_text import parse_type
from lakeward.model.values import Timestamp, of_python

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "vectors.json").read_text(encoding="utf-8"))
KEYS = ("day", "region")


def value_of(type_text: str, told: object) -> object:
    """A value of the vectors, which tell times as ISO text."""
    import datetime as dt

    type_ = parse_type(type_text)
    match type_text.partition("(")[0]:
        case "BYTES":
            return bytes.fromhex(str(told).removesuffix("(hex)"))
        case "DATE":
            told = dt.date.fromisoformat(told)
        case "TIME":
            told = dt.time.fromisoformat(told)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            told = dt.datetime.fromisoformat(told)
    return of_python(type_, told)


@pytest.mark.parametrize("vector", VECTORS["partition_names"], ids=lambda v: f"{v['type']}-{v['value']}")
def test_texts_of_the_vectors(vector: dict) -> None:
    """Values are named as upstream's Java names them."""
    type_ = parse_type(vector["type"])
    assert partition.value_text(type_, value_of(vector["type"], vector["value"])) == vector["name"]


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (STRING(), "eu", "eu"),
        (BOOLEAN(), False, "false"),
        (BINARY(2), b"\x00\xff", "00ff"),
        (TIME(3), 0, "00-00-00_000"),
        (TIME(3), 86_399_999, "23-59-59_999"),
        (FLOAT(), 0.1, "0_1"),
        (DOUBLE(), float("nan"), "NaN"),
        (DOUBLE(), float("inf"), "Inf"),
        (FLOAT(), float("-inf"), "-Inf"),
        (DOUBLE(), 1e-5, "1_0E-5"),
        (DATE(), -1, "1969-12-31"),
        (TIMESTAMP(9), Timestamp(-1, 1), "1969-12-31-23-59-59_999000001"),
    ],
)
def test_texts_of_values(type_, value, text) -> None:
    """The rules of the specification, beyond the vectors."""
    assert partition.value_text(type_, value) == text


@pytest.mark.parametrize(
    ("type_", "value", "java", "pyfluss"),
    [
        (FLOAT(), 1.5, "1_5", "1_5"),
        (FLOAT(), 1e10, "1_0E10", "10000000000"),
        (FLOAT(), 1e-5, "1_0E-5", "0_00001"),
        (FLOAT(), -0.0, "-0_0", "-0"),
        (DOUBLE(), 9999999.0, "9999999_0", "9999999"),
        (DOUBLE(), -123456.789, "-123456_789", "-123456_789"),
        (DOUBLE(), 1e20, "1_0E20", "100000000000000000000"),
        (DOUBLE(), float("-inf"), "-Inf", "-Inf"),
        (TIMESTAMP(3), Timestamp(0), "1970-01-01-00-00-00_", "1970-01-01-00-00-00_"),
        (TIMESTAMP(3), Timestamp(700), "1970-01-01-00-00-00_7", "1970-01-01-00-00-00_700"),
        (TIMESTAMP(6), Timestamp(789, 123000), "1970-01-01-00-00-00_789123", "1970-01-01-00-00-00_789123000"),
        (INT(), 5, "5", "5"),
    ],
)
def test_java_and_pyfluss_disagree(type_, value, java, pyfluss) -> None:
    """Both ways of naming are here; pyfluss finds only its own."""
    assert partition.value_text(type_, value) == java
    assert partition.value_text(type_, value, follow_pyfluss=True) == pyfluss


@pytest.mark.parametrize(("type_", "value"), [(INT(), None), (DECIMAL(5, 2), 1), (ARRAY(INT()), (1,))])
def test_values_without_a_text(type_, value) -> None:
    """NULL, decimals and nested values name no partition."""
    with pytest.raises(InvalidError) as refused:
        partition.value_text(type_, value)
    assert refused.value.code is ErrorCode.PARTITION_SPEC_INVALID


legal = st.from_regex(r"[A-Za-z0-9-][A-Za-z0-9_-]{0,30}", fullmatch=True)


@given(st.lists(legal, min_size=1, max_size=4))
def test_names_and_specs_survive_a_round_trip(values: list[str]) -> None:
    """A name holds exactly the values it was made of."""
    keys = [f"k{i}" for i in range(len(values))]
    spec = dict(zip(keys, values, strict=True))
    name = partition.name_of_spec(keys, dict(reversed(spec.items())), "db.t", creating=True)
    assert name == "$".join(values)
    assert partition.spec_of_name(keys, name) == spec


def test_the_qualified_name_is_for_people() -> None:
    """Keys and values side by side."""
    assert partition.qualified_name(KEYS, ("2024-03-15", "eu")) == "day=2024-03-15/region=eu"


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"day": "1"}, "size is not equal.*db.t"),
        ({"day": "1", "region": "eu", "x": "y"}, "size is not equal"),
        ({"day": "1", "zone": "eu"}, "does not contain partition key 'region'"),
        ({"day": "", "region": "eu"}, "the empty string"),
        ({"day": "..", "region": "eu"}, "not allowed"),
        ({"day": "../../etc", "region": "eu"}, "characters other than"),
        ({"day": "a$b", "region": "eu"}, "characters other than"),
        ({"day": "x" * 201, "region": "eu"}, "longer than the limit"),
        ({"day": "__x", "region": "eu"}, "reserved"),
    ],
)
def test_specs_that_name_no_partition(spec, why) -> None:
    """Each is refused with code 43 and its reason."""
    with pytest.raises(InvalidError, match=why) as refused:
        partition.name_of_spec(KEYS, spec, "db.t", creating=True)
    assert refused.value.code is ErrorCode.PARTITION_SPEC_INVALID


def test_reserved_values_may_be_named_but_not_created() -> None:
    """The historical partition can be asked for."""
    assert partition.name_of_spec(["day"], {"day": partition.HISTORICAL}, "db.t", creating=False) == "__historical__"


def test_a_name_with_the_wrong_number_of_values() -> None:
    """The name must have one value per key."""
    with pytest.raises(InvalidError, match="has 1 values, the table has 2"):
        partition.spec_of_name(KEYS, "2024")
