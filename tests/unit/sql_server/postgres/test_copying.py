"""COPY: what is asked for, and how rows are written."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from lakeward.sql_server.postgres.codec.sql_text import statements_of
from lakeward.sql_server.postgres.copying import CopyForm, copied_of
from lakeward.sql_server.postgres.states import StateError

_ROWS = pa.RecordBatch.from_pydict({"n": [1, None], "t": ["a,b", ""]})


def told(form: CopyForm) -> bytes:
    """The data of all messages, without their heads."""
    out, at, data = b"", 0, form.begin(["n", "t"]) + bytes(form.rows(_ROWS)) + form.end()
    while at < len(data):
        size = struct.unpack_from("!i", data, at + 1)[0]
        out += data[at + 5 : at + 1 + size] if data[at : at + 1] == b"d" else b""
        at += 1 + size
    return out


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ("", b"1\ta,b\n\\N\t\n"),
        ("WITH CSV HEADER", b'n,t\n1,"a,b"\n,""\n'),
        ("(FORMAT csv, DELIMITER '|', NULL '-', HEADER off)", b"1|a,b\n-|\n"),
        ("WITH DELIMITER AS ',' NULL AS 'x'", b"1,a\\,b\nx,\n"),
        ("WITH (FORMAT 'csv', QUOTE '''', ENCODING 'UTF8')", b"1,'a,b'\n,''\n"),
    ],
)
def test_rows_are_written_as_asked(options: str, written: bytes) -> None:
    """In the old spelling of options and the new one."""
    sql, form = copied_of(statements_of(f"COPY (SELECT 1) TO STDOUT {options}")[0])
    assert sql == "(SELECT 1) "
    assert told(form) == written


def test_binary_rows_begin_and_end_as_postgres_has_it() -> None:
    """The signature is in front of the first row, in the same message: DuckDB reads it there."""
    form = CopyForm("binary")
    data = told(form)
    assert data.startswith(b"PGCOPY\n\xff\r\n\0" + bytes(8) + struct.pack("!hi", 2, 8))
    assert data.endswith(struct.pack("!h", -1))
    begin = form.begin(["n", "t"])
    assert bytes(form.rows(_ROWS)).count(b"PGCOPY") == 1
    assert b"PGCOPY" not in begin
    assert b"PGCOPY" in CopyForm("binary", _signature=b"PGCOPY").end()


def test_columns_of_a_table_are_chosen() -> None:
    """By name."""
    assert copied_of(statements_of("COPY db.t (a, b) TO STDOUT")[0])[0] == "SELECT a, b FROM db.t "


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("COPY t FROM STDIN", "25006"),
        ("COPY t TO '/tmp/x'", "42501"),
        ("COPY t FROM '/tmp/to'", "25006"),
        ("COPY t TO STDOUT (FORMAT avro)", "22023"),
        ("COPY t TO STDOUT (FREEZE)", "0A000"),
        ("COPY t TO STDOUT (DELIMITER 'ab')", "22023"),
        ("COPY t TO STDOUT (DELIMITER 3)", "42601"),
        ("COPY t TO STDOUT (ENCODING 'latin1')", "0A000"),
    ],
)
def test_what_is_not_written_is_refused(sql: str, state: str) -> None:
    """With letters that programs know."""
    with pytest.raises(StateError) as caught:
        copied_of(statements_of(sql)[0])
    assert caught.value.state == state
