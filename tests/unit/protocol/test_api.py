"""The table of APIs and the messages, compared with the protocol as data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from message_strategies import all_messages

from lakeward.errors import CorruptError, ErrorCode, RetriableError
from lakeward.protocol.api import Api
from lakeward.protocol.codec.shapes import shapes

PROTOCOL = json.loads((Path(__file__).parents[2] / "data" / "rpc.json").read_text())
APIS = {row["name"]: row for row in PROTOCOL["api_keys"]}
KINDS = {
    "bool": {"bool"},
    "int32": {"i32"},
    "int64": {"i64"},
    "float": {"f32"},
    "double": {"f64"},
    "string": {"str"},
    "bytes": {"bytes", "payload"},
}


@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_an_api_is_the_one_of_the_protocol(api: Api) -> None:
    """Key, highest version, request and response."""
    row = APIS[api.name]
    assert (api.value, 0, api.version_max) == (row["id"], row["min_version"], row["max_version"])
    assert (api.request.__name__, api.response.__name__) == (row["request"], row["response"])
    assert Api.of_key(api.value) is api


def test_only_calls_between_servers_are_missing() -> None:
    """Every public API is in the table."""
    missing = {row["name"] for row in APIS.values()} - {api.name for api in Api}
    assert all(APIS[name]["visibility"] == "private" for name in missing)


@pytest.mark.parametrize("key", [0, 999, 1065, -1, 32767])
def test_unknown_keys_have_no_row(key: int) -> None:
    """A key from the future is not guessed at."""
    assert Api.of_key(key) is None


@pytest.mark.parametrize("cls", all_messages(), ids=lambda cls: cls.__name__)
def test_a_message_is_the_one_of_the_protocol(cls: type) -> None:
    """Every field has its number, type, label and packing; none is missing."""
    declared = {shape.number: shape for shape in shapes(cls)}
    fields = {field["number"]: field for field in PROTOCOL["messages"][cls.__name__]["fields"]}
    assert set(declared) == set(fields)
    for number, field in fields.items():
        shape = declared[number]
        assert shape.name == re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), field["name"])
        kind = shape.kind if shape.message is None else shape.message.__name__
        assert kind in KINDS.get(field["type"], {field["type"]}), field["name"]
        assert (shape.repeated, shape.required) == (field["label"] == "repeated", field["label"] == "required")
        if field["label"] == "repeated" and field["type"] in {"int32", "int64"}:
            assert shape.packed == field.get("packed", False), field["name"]


def test_error_codes_are_those_of_the_protocol() -> None:
    """Every code of the wire has a row, and what may be tried again is a RetriableError."""
    rows = {row["code"]: row for row in PROTOCOL["errors"]}
    assert {code.value for code in ErrorCode} == set(rows)
    for code in ErrorCode:
        if rows[code.value]["retriable"] and code.kind is not CorruptError:  # the same bytes would come again
            assert issubclass(code.kind, RetriableError), code.name
