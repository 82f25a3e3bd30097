"""Key columns → key bytes, in our own way and in each lake's way.

compacted   the fields of a compacted row without its null bits; NULL is refused
paimon      an aligned row
iceberg     one column, as Iceberg's bucket transform hashes it
hudi        the hash of the values' texts; good for buckets only
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import java_text
from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.model.values import decimal_of, unscaled_of
from lakeward.records.row.aligned_row import AlignedRow
from lakeward.records.row.compacted_row import field_of
from lakeward.records.row.row_codec import minimal_bytes, one_nan

KEY_FORMAT_VERSION_DEFAULT = 1
"""The `table.kv.format-version` of a table that does not say."""

KeyEncoder = Callable[[Sequence[Any]], bytes]

_UNFIT = (TypeError, ValueError, ArithmeticError, AttributeError, struct.error)
_HUDI_NULL, _HUDI_EMPTY = "__null__", "__empty__"
_NO_ICEBERG_KEY = NESTED | {TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.TIMESTAMP_LTZ}
_NO_HUDI_KEY = NESTED | {TypeRoot.BINARY, TypeRoot.BYTES}


class KeyEncoding(enum.StrEnum):
    """How key columns become bytes."""

    COMPACTED = "compacted"
    PAIMON = "paimon"
    ICEBERG = "iceberg"
    HUDI = "hudi"


def bucket_key_encoding(lake_format: str | None) -> KeyEncoding:
    """The encoding behind a table's buckets."""
    match lake_format.lower() if lake_format else None:
        case None | "lance":
            return KeyEncoding.COMPACTED
        case "paimon" | "iceberg" | "hudi" as name:
            return KeyEncoding(name)
        case unknown:
            raise ErrorCode.INVALID_CONFIG.error(f"There is no key encoding for lake format '{unknown}'.")


def primary_key_encoding(
    lake_format: str | None, kv_format_version: int | None, *, has_default_bucket_key: bool
) -> KeyEncoding:
    """The encoding of stored keys. From version 2 on, bucket keys of one's own choice keep keys findable by prefix."""
    encoding = bucket_key_encoding(lake_format)
    if encoding is KeyEncoding.HUDI:
        return KeyEncoding.COMPACTED
    version = KEY_FORMAT_VERSION_DEFAULT if kv_format_version is None else kv_format_version
    return encoding if version < 2 or has_default_bucket_key else KeyEncoding.COMPACTED


@lru_cache(maxsize=512)
def key_encoder(encoding: KeyEncoding, types: tuple[DataType, ...]) -> KeyEncoder:
    """A function from the values of the key columns to key bytes."""
    if not types:
        raise ErrorCode.INVALID_TABLE.error("A key needs at least one column.")
    match encoding:
        case KeyEncoding.COMPACTED:
            return _compacted_encoder(types)
        case KeyEncoding.PAIMON:
            _refuse_types("Paimon", types, NESTED)
            return AlignedRow(types).encode
        case KeyEncoding.ICEBERG:
            return _iceberg(types)
        case KeyEncoding.HUDI:
            return _hudi(types)


def _refuse_types(lake: str, types: Sequence[DataType], refused: frozenset[TypeRoot]) -> None:
    for type_ in types:
        if type_.root in refused:
            raise ErrorCode.INVALID_TABLE.error(f"A column of type {type_} cannot be a key for {lake}.")


def _unfit(types: Sequence[DataType], values: Sequence[Any], wrong: Exception | str) -> LakewardError:
    named = ", ".join(str(t) for t in types)
    return ErrorCode.INVALID_TARGET_COLUMN.error(f"The key {tuple(values)!r:.200} of type ({named}) is unfit: {wrong}")


def _compacted_encoder(types: tuple[DataType, ...]) -> KeyEncoder:
    fields = tuple(field_of(t) for t in types)

    def encode(values: Sequence[Any]) -> bytes:
        out = bytearray()
        if None in values:
            raise _unfit(types, values, "a key column must not be NULL")
        try:
            for field, value in zip(fields, values, strict=True):
                field.put(out, value)
        except _UNFIT as wrong:
            raise _unfit(types, values, wrong) from wrong
        return bytes(out)

    return encode


def _iceberg(types: tuple[DataType, ...]) -> KeyEncoder:
    if len(types) != 1:
        raise ErrorCode.INVALID_TABLE.error(f"A key for Iceberg is exactly one column, not {len(types)}.")
    _refuse_types("Iceberg", types, _NO_ICEBERG_KEY)
    put = _iceberg_field(types[0])

    def encode(values: Sequence[Any]) -> bytes:
        (value,) = values
        if value is None:
            raise _unfit(types, values, "a key column must not be NULL")
        try:
            return put(value)
        except _UNFIT as wrong:
            raise _unfit(types, values, wrong) from wrong

    return encode


def _iceberg_field(type_: DataType) -> Callable[[Any], bytes]:
    i64 = struct.Struct("<q")
    match type_.root:
        case TypeRoot.TIME:
            return lambda ms: i64.pack(ms * 1000)
        case TypeRoot.TIMESTAMP:
            return lambda v: i64.pack(v[0] * 1000 + v[1] // 1000)
        case TypeRoot.FLOAT:
            return lambda v: struct.pack("<f", one_nan(v))
        case TypeRoot.DOUBLE:
            return lambda v: struct.pack("<d", one_nan(v))
        case TypeRoot.CHAR | TypeRoot.STRING:
            return lambda text: text.encode()
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return bytes
        case TypeRoot.DECIMAL:
            precision, scale = type_.precision, type_.scale
            assert precision is not None
            assert scale is not None
            return lambda v: minimal_bytes(unscaled_of(v, precision, scale))
        case _:
            return i64.pack


def _hudi(types: tuple[DataType, ...]) -> KeyEncoder:
    _refuse_types("Hudi", types, _NO_HUDI_KEY)
    texts = tuple(_hudi_text(t) for t in types)
    composite = len(types) > 1

    def encode(values: Sequence[Any]) -> bytes:
        hash_code = 1
        for text_of, value in zip(texts, values, strict=True):
            if value is None:
                element = 0 if composite else _string_hash(_HUDI_NULL)
            else:
                try:
                    text = text_of(value)
                except _UNFIT as wrong:
                    raise _unfit(types, values, wrong) from wrong
                if composite and ("," in text or text in {_HUDI_NULL, _HUDI_EMPTY}):
                    raise _unfit(types, values, "Hudi takes no ',' and none of its own placeholders in a key")
                element = _string_hash(text)
            hash_code = (31 * hash_code + element) & 0xFFFFFFFF
        return hash_code.to_bytes(4, "big")

    return encode


def _hudi_text(type_: DataType) -> Callable[[Any], str]:
    match type_.root:
        case TypeRoot.BOOLEAN:
            return lambda v: "true" if v else "false"
        case TypeRoot.FLOAT:
            return java_text.float_text
        case TypeRoot.DOUBLE:
            return java_text.double_text
        case TypeRoot.DECIMAL:
            precision, scale = type_.precision, type_.scale
            assert precision is not None
            assert scale is not None
            return lambda v: f"{decimal_of(unscaled_of(v, precision, scale), precision, scale):f}"
        case TypeRoot.TIMESTAMP:
            return java_text.local_text
        case TypeRoot.TIMESTAMP_LTZ:
            return java_text.instant_text
        case _:
            return str  # text as it is; DATE and TIME are numbers to Java here


def _string_hash(text: str) -> int:
    """Java's String.hashCode: over UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    code = 0
    for at in range(0, len(units), 2):
        code = (31 * code + units[at] + (units[at + 1] << 8)) & 0xFFFFFFFF
    return code
