"""Messages of a replication stream, written here by hand as the protocol's documentation draws them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from lakeward.capture.postgres.decode.message_kernels import (
    KIND,
    LSN,
    NULL,
    RELATION,
    TIME,
    UNCHANGED,
    XID,
    read_rows,
    scan_messages,
)
from lakeward.capture.postgres.decode.messages import read_relation, read_truncate, status_update
from lakeward.errors import CorruptError
from lakeward.records.kernels.spans import read_only

Value = str | None | type[Ellipsis]  # type: ignore[valid-type]


def tuple_data(*values: object) -> bytes:
    """Text, None for NULL, … for a value that was not sent."""
    cells = [b"n" if v is None else b"u" if v is ... else b"t" + struct.pack(">I", len(v)) + v.encode() for v in values]  # type: ignore[arg-type,attr-defined]
    return struct.pack(">H", len(values)) + b"".join(cells)


def data(message: bytes) -> bytes:
    """In an XLogData message."""
    return b"w" + bytes(24) + message


def begin(lsn: int, time: int, xid: int) -> bytes:
    """The begin of a transaction."""
    return data(b"B" + struct.pack(">QQI", lsn, time, xid))


def insert(relation: int, *values: object) -> bytes:
    """An insert."""
    return data(b"I" + struct.pack(">I", relation) + b"N" + tuple_data(*values))


def update(relation: int, tag: bytes, old: tuple[object, ...], *new: object) -> bytes:
    """An update with the old key (K), the old row (O) or neither."""
    before = tag + tuple_data(*old) if tag else b""
    return data(b"U" + struct.pack(">I", relation) + before + b"N" + tuple_data(*new))


def delete(relation: int, tag: bytes, *old: object) -> bytes:
    """A delete."""
    return data(b"D" + struct.pack(">I", relation) + tag + tuple_data(*old))


def keepalive(lsn: int) -> bytes:
    """The server tells how far it is."""
    return b"k" + struct.pack(">QQB", lsn, 0, 0)


def bulk(*messages: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Messages behind each other, and their bounds."""
    return read_only(b"".join(messages)), np.cumsum([0, *map(len, messages)]).astype(np.int64)


def rows(*messages: bytes, columns: int = 2, keys: tuple[int, ...] = (0,)) -> list[tuple[int, list[object]]]:
    """Kind and values of each row."""
    buffer, bounds = bulk(*messages)
    starts, lengths = (np.empty((columns, 2 * len(messages)), np.int64) for _ in range(2))
    kinds, sources = np.empty(2 * len(messages), np.uint8), np.empty(2 * len(messages), np.int64)
    chosen = np.arange(len(messages))
    count = read_rows(buffer, bounds, chosen, np.array(keys, np.int64), starts, lengths, kinds, sources)
    if count < 0:
        raise ValueError(f"message {-1 - count}")
    special = {NULL: None, UNCHANGED: ...}
    return [
        (
            int(kinds[row]),
            [
                special[n] if (n := int(lengths[c, row])) < 0 else bytes(buffer[starts[c, row] :][:n]).decode()
                for c in range(columns)
            ],
        )
        for row in range(count)
    ]


def test_each_message_knows_its_transaction() -> None:
    """Kind, relation, and the commit that the last begin has named; keepalives have a place of their own."""
    messages = [begin(100, 7, 9), insert(42, "1"), keepalive(99), insert(43, "2"), begin(200, 8, 10), insert(42, "3")]
    buffer, bounds = bulk(*messages)
    state, found = np.zeros(3, np.int64), np.zeros((len(messages), 5), np.int64)
    scan_messages(buffer, bounds, state, found)
    assert "".join(map(chr, found[:, KIND])) == "BIkIBI"
    assert found[[1, 3, 5], RELATION].tolist() == [42, 43, 42]
    assert found[:, LSN].tolist() == [100, 100, 99, 100, 200, 200]
    assert found[[1, 5], TIME].tolist() == [7, 8]
    assert found[[1, 5], XID].tolist() == [9, 10]
    assert state.tolist() == [200, 8, 10]


def test_rows_of_every_kind() -> None:
    """An update with the whole old row is two rows; with neither row nor key it is one."""
    assert rows(insert(1, "1", None), update(1, b"", (), "1", "a"), delete(1, b"K", "1", None)) == [
        (1, ["1", None]),
        (3, ["1", "a"]),
        (4, ["1", None]),
    ]
    assert rows(update(1, b"O", ("1", "a"), "1", "b"), delete(1, b"O", "1", "b")) == [
        (2, ["1", "a"]),
        (3, ["1", "b"]),
        (4, ["1", "b"]),
    ]


def test_a_new_key_is_a_delete_and_an_insert() -> None:
    """Whether the old row was sent whole or only its key; a key that was sent and is the same is no new one."""
    assert rows(update(1, b"K", ("1", None), "2", "a")) == [(4, ["1", None]), (1, ["2", "a"])]
    assert rows(update(1, b"O", ("1", "a"), "2", "a")) == [(4, ["1", "a"]), (1, ["2", "a"])]
    assert rows(update(1, b"K", ("1", None), "1", "a")) == [(3, ["1", "a"])]
    assert rows(update(1, b"O", ("1", "a"), "2", "a"), keys=()) == [(2, ["1", "a"]), (3, ["2", "a"])]


def test_a_value_that_was_not_sent_is_the_old_one_where_that_is_known() -> None:
    """The whole old row has it; a key has none but its own."""
    assert rows(update(1, b"O", ("1", "long"), "1", ...)) == [(2, ["1", "long"]), (3, ["1", "long"])]
    assert rows(update(1, b"O", ("1", None), "1", ...)) == [(2, ["1", None]), (3, ["1", None])]
    assert rows(update(1, b"", (), "1", ...)) == [(3, ["1", ...])]
    assert rows(update(1, b"K", ("1", None), "2", ...)) == [(4, ["1", None]), (1, ["2", ...])]
    assert rows(update(1, b"K", ("1", None), ..., "a")) == [(3, ["1", "a"])]


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_broken_messages_are_noticed(cut: int) -> None:
    """A message that ends early, or has another number of columns, is not read past its end."""
    with pytest.raises(ValueError, match="message 1"):
        rows(insert(1, "1", "abc"), insert(1, "1", "abc")[:-cut])
    with pytest.raises(ValueError, match="message 0"):
        rows(insert(1, "1", "2", "3"))


def test_relations_and_truncations() -> None:
    """What rows look like from here on; which tables were emptied."""
    column = b"\x01id\0" + struct.pack(">Ii", 23, -1)
    message = b"R" + struct.pack(">I", 7) + b"shop\0orders\0d" + struct.pack(">H", 1) + column
    relation = read_relation(message)
    assert (relation.oid, relation.space, relation.name, relation.identity) == (7, "shop", "orders", "d")
    assert [(c.name, c.type_oid, c.type_modifier) for c in relation.columns] == [("id", 23, -1)]
    assert read_truncate(b"T" + struct.pack(">IBII", 2, 0, 7, 8)) == (7, 8)
    with pytest.raises(CorruptError):
        read_relation(message[:-3])
    with pytest.raises(CorruptError):
        read_truncate(b"T\0\0\0\x09\0")


def test_what_the_server_is_told() -> None:
    """Three times the same place, a time that nobody needs, and whether an answer is wanted."""
    assert status_update(5, wants_reply=True) == b"r" + bytes([0, 0, 0, 0, 0, 0, 0, 5]) * 3 + bytes(8) + b"\x01"
