"""What a fetch is answered with, encoded at once or, where it names much, in pieces."""

from __future__ import annotations

from lakeward.protocol.codec import Parts, encode, encode_parts
from lakeward.protocol.messages.log import FetchLogResponse, PbFetchLogRespForTable
from lakeward.protocol.messages.packed_log import PackedFetchLogResponse, PbSomeFetchedBuckets
from lakeward.rpc.dispatch import EncodedAnswer, Steps

#: So many buckets are read or encoded without a break.
AT_ONCE = 32
#: Pieces of fewer bytes together are one piece: a socket takes a few large ones sooner than thousands of small ones.
_JOINED_BYTES_MAX = 64 << 10


def fetch_answer(tables: tuple[PbFetchLogRespForTable, ...]) -> Steps:
    """The answer; few buckets need no step."""
    if sum(max(1, len(table.buckets_resp)) for table in tables) <= AT_ONCE:
        return FetchLogResponse(tables_resp=tables)
    parts: Parts = []
    for number, table in enumerate(tables, 1):
        pieces: Parts = [encode(PbFetchLogRespForTable(table_id=table.table_id))]
        for at in range(0, len(table.buckets_resp), AT_ONCE):
            some = encode_parts(PbSomeFetchedBuckets(buckets_resp=table.buckets_resp[at : at + AT_ONCE]))
            pieces += some if sum(map(len, some)) > _JOINED_BYTES_MAX else [b"".join(some)]
            yield
        parts += encode_parts(PackedFetchLogResponse(tables_resp=(pieces,)))
        if number % AT_ONCE == 0:
            yield
    return EncodedAnswer(parts)
