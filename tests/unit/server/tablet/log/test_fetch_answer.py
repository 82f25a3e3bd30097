"""Answers of fetches: encoded at once or in pieces, they are the same bytes."""

from __future__ import annotations

import pytest

from lakeward.protocol.codec import encode
from lakeward.protocol.messages.log import FetchLogResponse, PbFetchLogRespForBucket, PbFetchLogRespForTable
from lakeward.rpc.dispatch import EncodedAnswer, at_once
from lakeward.server.tablet.log.fetch_answer import fetch_answer


def table(number: int, buckets: int, records: bytes) -> PbFetchLogRespForTable:
    """A table with this many buckets."""
    found = tuple(
        PbFetchLogRespForBucket(bucket_id=n, high_watermark=n, log_start_offset=0, records=records)
        for n in range(buckets)
    )
    return PbFetchLogRespForTable(table_id=number, buckets_resp=found)


@pytest.mark.parametrize("records", [b"", b"few", b"many" * 5000])
@pytest.mark.parametrize("counts", [(100,), (33, 0, 1), (0,) * 40, (1,) * 40])
def test_pieces_are_the_whole(counts: tuple[int, ...], records: bytes) -> None:
    """Many buckets of few tables, or many tables of few buckets."""
    tables = tuple(table(number, count, records) for number, count in enumerate(counts))
    answer = at_once(fetch_answer(tables))
    assert isinstance(answer, EncodedAnswer)
    assert b"".join(answer.parts) == encode(FetchLogResponse(tables_resp=tables))


def test_few_buckets_are_answered_without_a_step() -> None:
    """That is nearly every fetch, and it costs nothing more."""
    tables = (table(1, 32, b"rows"),)
    with pytest.raises(StopIteration) as end:
        next(fetch_answer(tables))
    assert end.value.value == FetchLogResponse(tables_resp=tables)
