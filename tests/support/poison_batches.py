"""Batches with a right checksum that no reader should ever meet: each a small function that spoils a good batch.

`LOG_POISON` is the catalogue by name. A forger gets a `Good` batch (three rows of every kind of column) and spoils it
in place; the checksum is put right behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from arrow_batches import arrow_batch

from lakeward.errors import LakewardError
from lakeward.records.batch.batch_header import HEADER_BYTES
from lakeward.records.batch.log_batch import seal
from lakeward.records.ipc.arrow_message import ArrowMessage, read_message

_TIME = "TIME_WITHOUT_TIME_ZONE"
_COLUMNS: list[tuple[str, dict[str, Any]]] = [
    ("id", {"type": "BIGINT", "nullable": False}),
    ("name", {"type": "STRING"}),
    ("price", {"type": "DECIMAL", "precision": 5, "scale": 2}),
    ("at", {"type": _TIME, "precision": 3}),
    ("tags", {"type": "ARRAY", "element_type": {"type": "INTEGER"}}),
    ("props", {"type": "MAP", "key_type": {"type": "STRING", "nullable": False}, "value_type": {"type": "INTEGER"}}),
    ("flag", {"type": "BOOLEAN"}),
    ("raw", {"type": "BINARY", "length": 4}),
]
SCHEMA_JSON = {
    "version": 1,
    "columns": [{"name": name, "data_type": type_, "id": i} for i, (name, type_) in enumerate(_COLUMNS)],
    "highest_field_id": len(_COLUMNS) - 1,
}
ARROW_SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("name", pa.string()),
        ("price", pa.decimal128(5, 2)),
        ("at", pa.time32("ms")),
        ("tags", pa.list_(pa.int32())),
        ("props", pa.map_(pa.string(), pa.int32())),
        ("flag", pa.bool_()),
        ("raw", pa.binary(4)),
    ]
)
ROWS = pa.record_batch(
    [
        pa.array([1, 2, 3], pa.int64()),
        pa.array(["größer", None, "x"], pa.string()),
        pa.array([Decimal("1.50"), None, Decimal("-999.99")], pa.decimal128(5, 2)),
        pa.array([0, None, 86_399_999], pa.time32("ms")),
        pa.array([[1, 2], None, []], pa.list_(pa.int32())),
        pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        pa.array([True, None, False], pa.bool_()),
        pa.array([b"abcd", None, b"\xff\0\0\0"], pa.binary(4)),
    ],
    schema=ARROW_SCHEMA,
)
# Nodes and buffers of these columns, depth first.
ID, NAME, PRICE, AT, TAGS, TAG, PROPS, ENTRIES, KEY, VALUE, FLAG, RAW = range(12)
(
    ID_VALID, ID_DATA, NAME_VALID, NAME_OFFSETS, NAME_DATA, PRICE_VALID, PRICE_DATA, AT_VALID, AT_DATA,
    TAGS_VALID, TAGS_OFFSETS, TAG_VALID, TAG_DATA, PROPS_VALID, PROPS_OFFSETS, ENTRIES_VALID,
    KEY_VALID, KEY_OFFSETS, KEY_DATA, VALUE_VALID, VALUE_DATA, FLAG_VALID, FLAG_DATA, RAW_VALID, RAW_DATA,
) = range(25)  # fmt: skip


@dataclass
class Good:
    """A batch to be spoiled, and where things stand in it."""

    batch: bytearray
    message: ArrowMessage
    message_at: int

    @classmethod
    def of(cls, batch: bytearray, message_at: int = HEADER_BYTES[0]) -> Good:
        """A batch whose Arrow message begins there."""
        return cls(batch, read_message(batch, message_at, len(batch)), message_at)

    @property
    def buffers_at(self) -> int:
        """Where the list of buffers stands: its numbers are unlike any others."""
        return bytes(self.batch).index(struct.pack(f"<{len(self.message.buffers)}q", *self.message.buffers))

    def node(self, number: int, *, length: int | None = None, nulls: int | None = None) -> None:
        """Change what a node says."""
        at = self.message.nodes_at + 16 * number
        for place, value in ((at, length), (at + 8, nulls)):
            if value is not None:
                struct.pack_into("<q", self.batch, place, value)

    def buffer(self, number: int, *, at: int | None = None, size: int | None = None) -> None:
        """Change where a buffer is said to be."""
        place = self.buffers_at + 16 * number
        for where, value in ((place, at), (place + 8, size)):
            if value is not None:
                struct.pack_into("<q", self.batch, where, value)

    def values(self, number: int, form: str, *values: float, skip: int = 0) -> None:
        """Overwrite the contents of a buffer."""
        at, size = self.message.buffers[2 * number : 2 * number + 2]
        assert skip + struct.calcsize("<" + form) <= size
        struct.pack_into("<" + form, self.batch, self.message.body_at + at + skip, *values)

    def metadata_byte(self, old: int, new: int, why: str) -> None:
        """Change the one byte of the metadata that makes our own reader complain so; where it stands differs."""
        for place in range(self.message_at + 8, self.message.body_at):
            spoilt = bytearray(self.batch)
            if spoilt[place] == old:
                spoilt[place] = new
                try:
                    read_message(spoilt, self.message_at, len(spoilt))
                except LakewardError as wrong:
                    if why in wrong.message:
                        self.batch[place] = new
                        return
        raise AssertionError(f"no byte {old} of the metadata is what was looked for")

    def header(self, at: int, form: str, value: int) -> None:
        """Change a number in the header of the batch."""
        struct.pack_into("<" + form, self.batch, at, value)


Forger = Callable[[Good], None]
LOG_POISON: dict[str, tuple[str | None, Forger, bool]] = {}
"""Codec of the good batch, forger, and whether it takes a look at contents to see it."""


def _poison(codec: str | None = None, *, contents: bool = False) -> Callable[[Forger], Forger]:
    def note(forge: Forger) -> Forger:
        LOG_POISON[forge.__name__] = codec, forge, contents
        return forge

    return note


def forged(name: str) -> bytearray:
    """The poison of that name, sealed."""
    codec, forge, _ = LOG_POISON[name]
    rows = ROWS if codec is None else LARGE
    good = Good.of(arrow_batch(rows, codec))
    forge(good)
    seal(good.batch)
    return good.batch


LARGE = pa.Table.from_batches([ROWS] * 200).combine_chunks().to_batches()[0]
"""Enough rows for buffers that are compressed."""


# -- places and lengths of buffers


@_poison()
def a_buffer_behind_the_body(good: Good) -> None:
    good.buffer(RAW_DATA, at=good.message.body_bytes + 64)


@_poison()
def a_buffer_before_the_body(good: Good) -> None:
    good.buffer(ID_DATA, at=-8)


@_poison()
def a_buffer_that_leaves_the_body(good: Good) -> None:
    good.buffer(RAW_DATA, size=1 << 20)


@_poison()
def a_buffer_of_negative_length(good: Good) -> None:
    good.buffer(ID_DATA, size=-1)


@_poison()
def a_buffer_whose_end_overflows(good: Good) -> None:
    good.buffer(ID_DATA, at=(1 << 63) - 8, size=24)


@_poison()
def buffers_out_of_order(good: Good) -> None:
    at = good.message.buffers[2 * ID_DATA]
    good.buffer(RAW_DATA, at=at)


@_poison()
def a_crooked_buffer(good: Good) -> None:
    good.buffer(NAME_DATA, at=good.message.buffers[2 * NAME_DATA] + 1)


@_poison()
def a_body_longer_than_the_batch(good: Good) -> None:
    place = bytes(good.batch).index(struct.pack("<q", good.message.body_bytes), good.message_at)
    struct.pack_into("<q", good.batch, place, good.message.body_bytes + 4096)


@_poison()
def numbers_that_are_too_short(good: Good) -> None:
    good.buffer(ID_DATA, size=16)


@_poison()
def offsets_that_are_too_few(good: Good) -> None:
    good.buffer(NAME_OFFSETS, size=12)


@_poison()
def offsets_of_lists_that_are_missing(good: Good) -> None:
    good.buffer(TAGS_OFFSETS, size=0)


@_poison()
def decimals_that_are_too_short(good: Good) -> None:
    good.buffer(PRICE_DATA, size=40)


@_poison()
def bits_that_are_missing(good: Good) -> None:
    good.buffer(FLAG_DATA, size=0)


@_poison()
def fixed_bytes_that_are_too_short(good: Good) -> None:
    good.buffer(RAW_DATA, size=11)


@_poison()
def nulls_without_validity(good: Good) -> None:
    good.buffer(NAME_VALID, size=0)


# -- nodes


@_poison()
def a_column_with_fewer_rows(good: Good) -> None:
    good.node(ID, length=2)


@_poison()
def a_column_with_more_rows(good: Good) -> None:
    good.node(FLAG, length=8)


@_poison()
def a_column_of_negative_length(good: Good) -> None:
    good.node(ID, length=-3)


@_poison()
def more_nulls_than_rows(good: Good) -> None:
    good.node(NAME, nulls=4)


@_poison()
def negative_nulls(good: Good) -> None:
    good.node(NAME, nulls=-1)


@_poison(contents=True)
def nulls_that_the_bits_deny(good: Good) -> None:
    good.node(NAME, nulls=2)


@_poison()
def a_null_where_none_may_be(good: Good) -> None:
    good.node(ID, nulls=1)


@_poison()
def entries_of_a_map_that_are_null(good: Good) -> None:
    good.node(ENTRIES, nulls=1)


@_poison()
def a_key_of_a_map_that_is_null(good: Good) -> None:
    good.node(KEY, nulls=1)


@_poison()
def keys_and_values_of_different_number(good: Good) -> None:
    good.node(VALUE, length=0)


@_poison()
def elements_beyond_their_bytes(good: Good) -> None:
    good.node(TAG, length=3)


# -- rows and headers


@_poison()
def two_billion_rows(good: Good) -> None:
    rows = (1 << 31) - 1
    good.header(28, "i", rows - 1)
    good.header(44, "i", rows)
    place = bytes(good.batch).index(struct.pack("<q", 3), good.message_at)
    struct.pack_into("<q", good.batch, place, rows)
    for number in (ID, NAME, PRICE, AT, TAGS, PROPS, FLAG, RAW):
        good.node(number, length=rows)


@_poison()
def rows_that_are_not_there(good: Good) -> None:
    good.header(28, "i", 6)
    good.header(44, "i", 7)


@_poison()
def no_rows_with_bytes_behind(good: Good) -> None:
    good.header(28, "i", 0)
    good.header(44, "i", 0)


@_poison()
def a_message_that_is_a_schema(good: Good) -> None:
    good.batch[good.message_at :] = _schema_message()


@_poison()
def a_message_of_an_old_version(good: Good) -> None:
    good.metadata_byte(4, 1, "another version")


@_poison()
def metadata_without_end(good: Good) -> None:
    struct.pack_into("<i", good.batch, good.message_at + 4, 1 << 30)


@_poison()
def a_table_outside_the_metadata(good: Good) -> None:
    struct.pack_into("<I", good.batch, good.message_at + 8, 1 << 20)


@_poison()
def more_columns_than_the_schema(good: Good) -> None:
    wide = ROWS.append_column("more", pa.array([1, 2, 3]))
    good.batch[:] = arrow_batch(wide)


@_poison()
def other_columns_of_the_same_number(good: Good) -> None:
    good.batch[:] = arrow_batch(ROWS.set_column(0, "id", pa.array([1, 2, 3], pa.int8())))


@_poison()
def a_body_of_nothing(good: Good) -> None:
    del good.batch[good.message.body_at :]


# -- change types, statistics


@_poison()
def a_change_type_that_is_none(good: Good) -> None:
    good.batch[:] = arrow_batch(ROWS, change_types=b"\0\x63\0")


@_poison()
def deletes_in_a_log_table(good: Good) -> None:
    good.batch[:] = arrow_batch(ROWS, change_types=b"\x04\x04\x04")


@_poison()
def change_types_that_are_cut_off(good: Good) -> None:
    good.batch[:] = arrow_batch(ROWS, change_types=b"\0\0")


@_poison()
def statistics_that_are_cut_off(good: Good) -> None:
    good.batch[:] = arrow_batch(ROWS, magic=1, statistics=b"\x01\x01\x00\x00")


@_poison()
def statistics_of_a_column_that_is_not_there(good: Good) -> None:
    block = struct.pack("<BhhiiQQiQQ", 1, 1, 77, 0, 16, 0, 1, 16, 0, 3)
    good.batch[:] = arrow_batch(ROWS, magic=1, statistics=block)


@_poison()
def statistics_with_more_nulls_than_rows(good: Good) -> None:
    block = struct.pack("<BhhiiQQiQQ", 1, 1, 0, 99, 16, 0, 1, 16, 0, 3)
    good.batch[:] = arrow_batch(ROWS, magic=1, statistics=block)


# -- compression


@_poison("zstd")
def an_unknown_codec(good: Good) -> None:
    good.metadata_byte(1, 9, "compression 9 is unknown")


@_poison("zstd")
def sixty_four_gigabytes(good: Good) -> None:
    good.values(NAME_DATA, "q", 64 << 30)


@_poison("zstd")
def numbers_that_claim_too_much(good: Good) -> None:
    good.values(ID_DATA, "q", 1 << 28)


@_poison("zstd")
def a_negative_claim(good: Good) -> None:
    good.values(ID_DATA, "q", -2)


@_poison("zstd", contents=True)
def text_that_claims_too_little(good: Good) -> None:
    good.values(NAME_DATA, "q", 1)


@_poison("zstd")
def a_compressed_buffer_cut_off(good: Good) -> None:
    good.buffer(ID_DATA, size=7)


@_poison("zstd", contents=True)
def zstd_that_is_none(good: Good) -> None:
    good.values(ID_DATA, "I", 0xDEADBEEF, skip=8)


@_poison("lz4", contents=True)
def lz4_that_is_none(good: Good) -> None:
    good.values(ID_DATA, "I", 0xDEADBEEF, skip=8)


@_poison("zstd", contents=True)
def a_damaged_zstd_block(good: Good) -> None:
    good.values(ID_DATA, "Q", 0, skip=20)


# -- contents


@_poison(contents=True)
def offsets_that_fall(good: Good) -> None:
    good.values(NAME_OFFSETS, "4i", 0, 8, 2, 9)


@_poison(contents=True)
def offsets_that_leave_the_buffer(good: Good) -> None:
    good.values(NAME_OFFSETS, "4i", 0, 8, 8, 1 << 20)


@_poison(contents=True)
def negative_offsets(good: Good) -> None:
    good.values(NAME_OFFSETS, "4i", -8, 0, 8, 9)


@_poison(contents=True)
def lists_that_leave_their_elements(good: Good) -> None:
    good.values(TAGS_OFFSETS, "4i", 0, 2, 2, 900)


@_poison(contents=True)
def maps_whose_offsets_fall(good: Good) -> None:
    good.values(PROPS_OFFSETS, "4i", 1, 0, 0, 1)


@_poison(contents=True)
def text_that_is_not_utf8(good: Good) -> None:
    good.values(NAME_DATA, "2B", 0xC3, 0x28)


@_poison(contents=True)
def a_character_cut_in_two(good: Good) -> None:
    good.values(NAME_OFFSETS, "4i", 0, 3, 3, 9)


@_poison(contents=True)
def a_surrogate(good: Good) -> None:
    good.values(NAME_DATA, "3B", 0xED, 0xA0, 0x80)


@_poison(contents=True)
def a_key_of_a_map_that_is_not_utf8(good: Good) -> None:
    good.values(KEY_DATA, "B", 0xFF)


@_poison(contents=True)
def a_decimal_of_too_many_digits(good: Good) -> None:
    good.values(PRICE_DATA, "qq", 10**17, 0)


@_poison(contents=True)
def a_decimal_just_too_large(good: Good) -> None:
    good.values(PRICE_DATA, "qq", 10**5, 0)


@_poison(contents=True)
def a_decimal_just_too_small(good: Good) -> None:
    good.values(PRICE_DATA, "qq", -(10**5), -1)


@_poison(contents=True)
def a_decimal_of_128_bits(good: Good) -> None:
    good.values(PRICE_DATA, "qq", 5, 1)


@_poison(contents=True)
def a_time_after_midnight(good: Good) -> None:
    good.values(AT_DATA, "i", 86_400_000)


@_poison(contents=True)
def a_time_before_midnight(good: Good) -> None:
    good.values(AT_DATA, "i", -1)


def _schema_message() -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, ROWS.schema).close()
    stream = sink.getvalue().to_pybytes()
    return stream[: 8 + int.from_bytes(stream[4:8], "little")]
