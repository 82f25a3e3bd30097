"""Sums of short decimals: they may have more digits than their column."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from kv_tablets import TabletUnderTest

from lakeward.model import data_types as t
from lakeward.model.schema import Aggregate, Column, Schema


@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
@pytest.mark.parametrize(
    ("kv_format", "log_format"), [("COMPACTED", "ARROW"), ("COMPACTED", "COMPACTED"), ("INDEXED", "ARROW")]
)
def test_sums_beyond_the_digits_of_a_decimal_are_kept(
    tmp_path: Path, engine: str, kv_format: str, log_format: str
) -> None:
    """The state, its changelog and what is rebuilt from that have the sum, with one digit more than its type has."""
    schema = Schema.of([Column("k", t.INT()), Column("total", t.DECIMAL(4, 2), aggregate=Aggregate("sum"))], ["k"])
    properties = {
        "table.merge-engine": "aggregation",
        "table.kv.format": kv_format,
        "table.log.format": log_format,
    }
    tablet = TabletUnderTest(tmp_path, schema, properties, engine)
    tablet.put([((1,), (1, Decimal("99.99"))), ((2,), (2, Decimal("-99.99")))])
    tablet.put([((1,), (1, Decimal("0.01"))), ((2,), (2, Decimal("-0.01")))])
    sums = [(1, Decimal("100.00")), (2, Decimal("-100.00"))]
    assert tablet.rows() == sums
    tablet.crash()
    tablet.open()
    assert tablet.rows() == sums
    tablet.put([((1,), (1, Decimal(50)))], overwrite=True)
    assert [(kind, row) for _, kind, row in tablet.changelog()[-2:]] == [("-U", sums[0]), ("+U", (1, Decimal("50.00")))]
    tablet.stop()
