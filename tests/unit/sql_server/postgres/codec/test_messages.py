"""Messages of the Postgres protocol: what is written is read back, garbage is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.sql_server.postgres.codec import messages as m

_text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
_values = st.lists(st.none() | st.binary(max_size=20), max_size=5)


@given(_text, _text, st.lists(st.integers(0, 1), max_size=5), _values, st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_a_body_is_read_from_left_to_right(
    one: str, other: str, formats: list[int], values: list[bytes | None], oids: list[int]
) -> None:
    """As Parse and Bind are laid out."""
    cells = b"".join(b"\xff\xff\xff\xff" if v is None else struct.pack("!i", len(v)) + v for v in values)
    data = m.text(one) + m.text(other) + struct.pack(f"!h{len(formats)}h", len(formats), *formats)
    data += struct.pack("!h", len(values)) + cells + struct.pack(f"!h{len(oids)}I", len(oids), *oids)
    body = m.Body(data)
    assert (body.text(), body.text(), body.shorts(), body.values(), body.oids()) == (one, other, formats, values, oids)
    assert body.at == len(data)


@given(st.binary(max_size=60), st.lists(st.sampled_from(["text", "short", "number", "shorts", "oids", "values"])))
def test_garbage_is_read_or_refused(data: bytes, reads: list[str]) -> None:
    """Nothing is ever taken from behind the end, and no other error is raised."""
    body = m.Body(data)
    try:
        for read in reads:
            getattr(body, read)()
    except m.ProtocolError:
        pass
    assert body.at <= len(data)


@pytest.mark.parametrize("size", [-2, -(1 << 31), 9, (1 << 31) - 1])
def test_a_value_with_a_length_that_is_a_lie_is_refused(size: int) -> None:
    """-1 is NULL, all other lengths are those of bytes that are there."""
    with pytest.raises(m.ProtocolError):
        m.Body(struct.pack("!hi", 1, size) + b"12345678").values()


@given(st.dictionaries(_text.filter(bool), _text, max_size=5))
def test_options_of_the_first_message_are_pairs(options: dict[str, str]) -> None:
    """An empty name ends them; without one it is no first message."""
    data = b"".join(m.text(part) for pair in options.items() for part in pair)
    assert m.startup_options(m.Body(data + b"\0")) == options
    with pytest.raises(m.ProtocolError):
        m.startup_options(m.Body(data))


printable = st.characters(exclude_categories=("C", "Z"), include_characters=" ")


@given(st.lists(st.tuples(st.sampled_from("SCMHP"), st.text(printable, max_size=10)), unique_by=lambda field: field[0]))
def test_an_error_has_its_fields(fields: list[tuple[str, str]]) -> None:
    """Each is a letter and a text; its length counts itself."""
    data = m.error(dict(fields))
    assert data[:1] == b"E"
    assert struct.unpack("!i", data[1:5])[0] == len(data) - 1
    parts = data[5:-1].split(b"\0")[:-1]
    assert [(part[:1].decode(), part[1:].decode()) for part in parts] == fields


def test_a_nul_in_a_text_does_not_end_it() -> None:
    """It is left out: what follows would be taken for the next field."""
    assert m.text("a\0b") == b"ab\0"
    assert m.command_complete("SELECT 1\0") == m.command_complete("SELECT 1")


def test_columns_are_described() -> None:
    """Name, type, size, modifier and form of each."""
    data = m.row_description([m.Column("id", 20, 8), m.Column("größe", 1700, -1, 7)], [0, 1])
    body = m.Body(data[5:])
    assert body.short() == 2
    assert body.text() == "id"
    assert struct.unpack("!ihihih", body.take(18)) == (0, 0, 20, 8, -1, 0)
    assert body.text() == "größe"
    assert struct.unpack("!ihihih", body.take(18)) == (0, 0, 1700, -1, 7, 1)
