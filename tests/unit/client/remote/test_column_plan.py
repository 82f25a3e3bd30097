"""Stretches that are got hold what is wanted, and little else."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch
from column_segments import INFO, SEGMENT, SUMS, rows_between

from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.remote.column_plan import Unit, plan_units
from lakeward.errors import CorruptError
from lakeward.records.batch.column_sums import read_sums

DATA = SEGMENT.data


def units(columns: list[str], gap_bytes: int = 0, end_offset: int | None = None) -> list[Unit] | None:
    """The plan for some columns."""
    return plan_units(SEGMENT.told, SEGMENT.sums, LogDecoder(INFO, columns), gap_bytes, end_offset)


def got(unit: Unit) -> bytes:
    """What a store gives for a unit."""
    return b"".join(DATA[start:stop] for start, stop in unit.places)


def test_only_wanted_columns_are_got() -> None:
    """One of six columns of numbers is about a sixth of the bytes."""
    (unit,) = units(["b"]) or []
    assert unit.bytes < len(DATA) / 5
    assert sum(stop - start for start, stop in unit.places) == unit.bytes == len(got(unit))


def test_stretches_that_lie_close_are_got_as_one() -> None:
    """A gap that is cheaper than a call is read over; the rows are the same."""
    (apart,) = units(["a", "c"]) or []
    (together,) = units(["a", "c"], gap_bytes=10_000) or []
    assert len(together.places) < len(apart.places)
    cuts = [one.assemble(memoryview(got(one)), check_crc=True) for one in (apart, together)]
    assert cuts[0] == cuts[1]
    decoded = LogDecoder(INFO, ["a", "c"]).decode(Chunk(cuts[0].records, 0, 0, None, projected=True))
    assert pa.Table.from_batches(decoded).equals(rows_between(0, SEGMENT.told.end_offset).select(["a", "c"]))


def test_most_columns_are_no_reason_to_leave_out_some() -> None:
    """A segment is read whole when half of it or more is wanted, and when all is."""
    assert units(["a", "b", "c", "d"]) is None
    assert units(INFO.schema.names) is None


def test_a_segment_of_a_schema_that_nobody_told_is_read_whole() -> None:
    """The decoder is told of it then, for the next segment."""
    rows = rows_between(0, 1000).to_batches()[0]
    other = arrow_batch(rows, schema_id=9)
    sums = read_sums(memoryview(SUMS), 0, SEGMENT.told.end_offset, len(DATA))
    head = memoryview(bytes(other[: len(sums[0].head)]))
    strange = sums[0]._replace(head=head, header=sums[0].header._replace(schema_id=9))
    assert plan_units(SEGMENT.told, [strange], LogDecoder(INFO, ["a"]), 0, None) is None


def test_batches_behind_the_end_are_not_got() -> None:
    """A scan up to an offset gets the batches that begin before it."""
    (unit,) = units(["a"], end_offset=1001) or []
    assert len(unit.wanted) == 2
    assert (unit.position, unit.offset) == (0, 0)


@pytest.mark.parametrize("cut", [0, 1])
def test_less_than_was_wanted_is_told(cut: int) -> None:
    """A file that became shorter is damage."""
    (unit,) = units(["a"]) or []
    with pytest.raises(CorruptError):
        unit.assemble(memoryview(got(unit)[: cut and -cut]), check_crc=True)


def test_a_wrong_byte_is_told_unless_checks_are_off() -> None:
    """As with whole batches, by the same option."""
    (unit,) = units(["a"]) or []
    data = bytearray(got(unit))
    data[-100] ^= 1
    with pytest.raises(CorruptError):
        unit.assemble(memoryview(bytes(data)), check_crc=True)
    assert unit.assemble(memoryview(bytes(data)), check_crc=False).projected
