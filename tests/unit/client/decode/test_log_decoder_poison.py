"""Everything that the server refuses to append is refused by readers too: it may have been stored by another server."""

from __future__ import annotations

import pytest
from arrow_batches import arrow_batch
from fake_cluster import table_info
from poison import COLUMNS, POISON, good_rows, sealed
from poison_batches import LOG_POISON, ROWS, SCHEMA_JSON, forged

from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.forms.damage import Damage
from lakeward.errors import CorruptError
from lakeward.model import json_form

#: What readers let through: a NULL or a delete too many harms nobody, nor does what is not looked at.
HARMLESS = {
    "a_null_where_none_may_be",
    "no_rows_with_bytes_behind",
    "deletes_in_a_log_table",
    *(name for name in LOG_POISON if name.startswith("statistics")),
}


def decoder(columns: str, damage: Damage | None = None) -> LogDecoder:
    """A decoder of a table with these columns, which knows no other schema."""
    return LogDecoder(table_info(columns), damage=damage)


def chunk(data: bytes) -> Chunk:
    """The batches of bucket 4 from offset 0 on."""
    return Chunk(memoryview(data), 4, 0, None, projected=False)


@pytest.mark.parametrize("name", sorted(LOG_POISON.keys() - HARMLESS))
def test_what_a_server_refuses_readers_refuse(name: str) -> None:
    """One error with table, bucket and offset; no crash, and nothing that only Arrow knows."""
    schema = json_form.schema_of_json(SCHEMA_JSON)
    texts = ", ".join(f"{c.name} {c.type}" for c in schema.columns)
    with pytest.raises(CorruptError, match=r"db\.t, bucket 4, offset"):
        decoder(texts).decode(chunk(bytes(forged(name))))


@pytest.mark.parametrize("kind", POISON)
def test_a_bad_batch_is_left_out_alone(kind: str) -> None:
    """Between two good batches of one answer, on purpose; its bytes are kept where they are asked for."""
    bad = sealed(kind, base_offset=3)
    damage = Damage(table_info(COLUMNS).path, skips=True, keeps_bytes=True)
    reader = decoder(COLUMNS, damage)
    reader.learn(77, None)
    before = bytes(arrow_batch(good_rows(0), base_offset=0))
    rows = reader.decode(chunk(before + bad))
    (one,) = damage.left_out
    assert one.start == 3
    assert one.data == bad
    after = bytes(arrow_batch(good_rows(50), base_offset=one.stop))
    rows += reader.decode(Chunk(memoryview(after), 4, one.stop, None, projected=False))
    assert [i for batch in rows for i in batch.column("id").to_pylist()] == [0, 1, 2, 50, 51, 52]


def test_the_good_batch_that_poison_is_made_of_is_good() -> None:
    """So that what is refused above is refused for what was done to it."""
    schema = json_form.schema_of_json(SCHEMA_JSON)
    texts = ", ".join(f"{c.name} {c.type}" for c in schema.columns)
    for codec in (None, "zstd", "lz4"):
        (found,) = decoder(texts).decode(chunk(bytes(arrow_batch(ROWS, codec))))
        assert found.num_rows == ROWS.num_rows
