"""Every type of MariaDB: what is written into a column of it, and what is read; for servers and for recorded bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

UTC = dt.UTC
LOW, HIGH = "-838:59:59", "838:59:58.999999"
LONG = "-12345678901234567890123456789012345.012345678901234567890123456789"
UUID = "123e4567-e89b-12d3-a456-426655440000"
POINT = b"\0\0\0\0\x01\x01\0\0\0" + b"\0" * 6 + b"\xf0?" + b"\0" * 7 + b"@"

#: Type → (type of ours, [(what is written, what is read)]); NULL is tried for each.
MATRIX: dict[str, tuple[str, list[tuple[Any, Any]]]] = {
    "tinyint": ("TINYINT", [(-128, -128), (127, 127)]),
    "tinyint unsigned": ("SMALLINT", [(255, 255), (0, 0)]),
    "smallint": ("SMALLINT", [(-32768, -32768), (32767, 32767)]),
    "smallint unsigned": ("INT", [(65535, 65535)]),
    "mediumint": ("INT", [(-8388608, -8388608), (8388607, 8388607), (-1, -1)]),
    "mediumint unsigned": ("INT", [(16777215, 16777215)]),
    "int": ("INT", [(-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1)]),
    "int unsigned": ("BIGINT", [(2**32 - 1, 2**32 - 1)]),
    "int(8) zerofill": ("BIGINT", [(42, 42)]),
    "bigint": ("BIGINT", [(-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1)]),
    "bigint unsigned": ("DECIMAL(20, 0)", [(2**64 - 1, Decimal(2**64 - 1)), (0, Decimal(0))]),
    "decimal(10,2)": ("DECIMAL(10, 2)", [("-12345678.91", Decimal("-12345678.91")), (0, Decimal("0.00"))]),
    "decimal(38,10)": ("DECIMAL(38, 10)", [(f"-{'9' * 28}.{'9' * 10}", Decimal(f"-{'9' * 28}.{'9' * 10}"))]),
    "decimal(20,20)": ("DECIMAL(20, 20)", [("-0.12345678901234567890", Decimal("-0.12345678901234567890"))]),
    "decimal(9,0) unsigned": ("DECIMAL(9, 0)", [(999999999, Decimal(999999999))]),
    "decimal(65,30)": ("STRING", [(LONG, LONG), ("-1", "-1." + "0" * 30)]),
    "float": ("FLOAT", [(1.1, 1.100000023841858), (1234567.9, 1234567.875), (3.4028234e38, 3.4028234663852886e38)]),
    "double": ("DOUBLE", [(-1.7976931348623157e308, -1.7976931348623157e308), (4.9e-324, 5e-324), (0.1, 0.1)]),
    "bit(1)": ("BOOLEAN", [(1, True), (0, False)]),
    "bit(9)": ("BINARY(2)", [(511, b"\x01\xff"), (0, b"\0\0")]),
    "bit(64)": ("BINARY(8)", [(2**64 - 1, b"\xff" * 8)]),
    "year": ("INT", [(2155, 2155), (1901, 1901), (0, 0)]),
    "date": ("DATE", [("9999-12-31", dt.date(9999, 12, 31)), ("0000-00-00", None), ("2024-02-00", None)]),
    "time": ("STRING", [(LOW, LOW), ("00:00:00", "00:00:00"), ("23:59:59", "23:59:59")]),
    "time(3)": ("STRING", [("-00:00:01.5", "-00:00:01.500"), ("-838:59:59", "-838:59:59.000")]),
    "time(6)": ("STRING", [(HIGH, HIGH), ("-00:00:00.000001", "-00:00:00.000001")]),
    "datetime": ("TIMESTAMP(0)", [("9999-12-31 23:59:59", dt.datetime(9999, 12, 31, 23, 59, 59))]),
    "datetime(1)": ("TIMESTAMP(1)", [("1969-12-31 23:59:59.9", dt.datetime(1969, 12, 31, 23, 59, 59, 900000))]),
    "datetime(3)": ("TIMESTAMP(3)", [("1000-01-01 00:00:00.001", dt.datetime(1000, 1, 1, 0, 0, 0, 1000))]),
    "datetime(6)": ("TIMESTAMP(6)", [("2024-02-29 12:34:56.654321", dt.datetime(2024, 2, 29, 12, 34, 56, 654321))]),
    "timestamp null": ("TIMESTAMP_LTZ(0)", [("2038-01-19 03:14:07", dt.datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC))]),
    "timestamp(2) null": (
        "TIMESTAMP_LTZ(2)",
        [("1970-01-01 00:00:01.99", dt.datetime(1970, 1, 1, 0, 0, 1, 990000, UTC)), ("0000-00-00 00:00:00", None)],
    ),
    "timestamp(6) null": (
        "TIMESTAMP_LTZ(6)",
        [("2001-09-09 01:46:40.000001", dt.datetime(2001, 9, 9, 1, 46, 40, 1, UTC))],
    ),
    "char(10)": ("STRING", [("a  ", "a"), ("", "")]),
    "char(200)": ("STRING", [("é" * 200, "é" * 200)]),
    "varchar(20)": ("STRING", [("日本 ", "日本 "), ("𝄞", "𝄞")]),
    "varchar(300) charset latin1": ("STRING", [("é€ÿ", "é€ÿ"), ("x" * 300, "x" * 300)]),
    "varchar(20) charset utf16": ("STRING", [("日本𝄞", "日本𝄞")]),
    "varchar(20) charset gbk": ("STRING", [("中文", "中文")]),
    "varchar(20) charset sjis": ("STRING", [("日本", "日本")]),
    "varchar(20) charset koi8r": ("STRING", [("Привет", "Привет")]),
    "tinytext": ("STRING", [("x", "x")]),
    "text": ("STRING", [("y" * 60_000, "y" * 60_000)]),
    "mediumtext charset cp1250": ("STRING", [("ž" * 70_000, "ž" * 70_000)]),
    "longtext": ("STRING", [("w" * 300_000, "w" * 300_000)]),
    "binary(8)": ("BINARY(8)", [(b"\x01\0\0", b"\x01" + b"\0" * 7), (b"", b"\0" * 8)]),
    "varbinary(300)": ("BYTES", [(b"\0\xff" * 100 + b"\0", b"\0\xff" * 100 + b"\0")]),
    "tinyblob": ("BYTES", [(b"\0", b"\0")]),
    "blob": ("BYTES", [(b"\xff\0", b"\xff\0")]),
    "mediumblob": ("BYTES", [(b"", b"")]),
    "longblob": ("BYTES", [(b"\0" * 100_000, b"\0" * 100_000)]),
    "enum('a','b''c','é')": ("STRING", [("é", "é"), ("b'c", "b'c")]),
    "enum('ä','ö') charset latin1": ("STRING", [("ö", "ö")]),
    "set('x','y','z')": ("STRING", [("z,x", "x,z"), ("", ""), ("x,y,z", "x,y,z")]),
    "json": ("STRING", [('{"a": [1, "é"]}', '{"a": [1, "é"]}')]),
    "uuid": ("STRING", [(UUID, UUID), (f"{UUID[:-3]}100", f"{UUID[:-3]}100")]),
    "inet4": ("STRING", [("255.0.0.1", "255.0.0.1"), ("1.2.3.0", "1.2.3.0")]),
    "inet6": ("STRING", [("2001:db8::ff00:42:8329", "2001:db8::ff00:42:8329"), ("::", "::"), ("::ffff:1.2.3.4",) * 2]),
    "geometry": ("BYTES", [(POINT, POINT)]),
    "varchar(1000) compressed": ("STRING", [("k" * 500, "k" * 500), ("short", "short"), ("", "")]),
    "blob compressed": ("BYTES", [(b"\0" * 400, b"\0" * 400)]),
}
ROWS = 1 + max(len(values) for _, values in MATRIX.values())


def written(row: int, *, longest: int | None = None) -> list[Any]:
    """The values of a row as they are written; NULL where a type has no more, or one that is too long."""
    return [_value(values, row, 0, longest) for _, values in MATRIX.values()]


def read(row: int, *, longest: int | None = None) -> list[Any]:
    """The values of a row as they are read."""
    return [_value(values, row, 1, longest) for _, values in MATRIX.values()]


def _value(values: list[tuple[Any, Any]], row: int, side: int, longest: int | None) -> Any:
    if row >= len(values):
        return None
    is_long = isinstance(values[row][0], str | bytes) and longest is not None and len(values[row][0]) > longest
    return None if is_long else values[row][side]


def create_table(name: str) -> str:
    """The statement that makes a table with a column of every type."""
    return f"CREATE TABLE {name} (id INT PRIMARY KEY, {', '.join(f'c{i} {native}' for i, native in enumerate(MATRIX))})"
