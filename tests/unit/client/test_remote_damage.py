"""Segments in a file store that are damaged, or hold batches that nobody can decode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from arrow_batches import arrow_batch
from fake_cluster import FakeCluster, table_info
from log_fetches import ids, place, point_to, read_all
from poison import COLUMNS, POISON, good_rows, sealed
from remote_segments import fetch_info, put_segment

from lakeward.client.decode.log_decoder import LogDecoder
from lakeward.client.forms.damage import Damage
from lakeward.client.read.log_fetcher import LogFetcher
from lakeward.errors import CorruptError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import PbRemoteLogSegment

INFO = table_info(COLUMNS)
#: These take as many offsets as they have rows.
SMALL = [kind for kind in POISON if kind not in {"a billion rows", "a schema that nobody knows"}]


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    """A cluster that answers when the test says so."""
    made = FakeCluster()
    yield made
    made.workers.shutdown()


async def read(cluster: FakeCluster, damage: Damage, directory: Path, *segments: PbRemoteLogSegment) -> list[int]:
    """The ids of a scan of all that is in these segments."""
    decoder = LogDecoder(INFO, damage=damage)
    fetcher = LogFetcher(cluster, INFO, decoder, follow=False, damage=damage)  # type: ignore[arg-type]

    async def serve() -> None:
        while True:
            asked = await cluster.channel.next()
            assert asked.api is Api.FETCH_LOG
            at = asked.message.tables_req[0].buckets_req[0].fetch_offset
            left = [one for one in segments if one.remote_log_end_offset > at]
            point_to(asked, fetch_info(str(directory), left))

    serving = asyncio.create_task(serve())
    try:
        async with fetcher:
            fetcher.subscribe(place(0), 0, segments[-1].remote_log_end_offset)
            return ids(*await read_all(fetcher))
    finally:
        serving.cancel()


@pytest.mark.parametrize("kind", SMALL)
async def test_a_bad_batch_in_a_segment_is_named_or_left_out(cluster: FakeCluster, tmp_path: Path, kind: str) -> None:
    """As if it were on the server."""
    before, bad = bytes(arrow_batch(good_rows(0))), sealed(kind, base_offset=3)
    stop = 3 + int.from_bytes(bad[44:48], "little")
    data = before + bad + bytes(arrow_batch(good_rows(50), base_offset=stop))
    segment = put_segment(tmp_path, "u", 0, stop + 3, data)
    with pytest.raises(CorruptError, match=r"db\.t, bucket 0, offsets? 3\b"):
        await read(cluster, Damage(INFO.path), tmp_path, segment)
    damage = Damage(INFO.path, skips=True)
    assert await read(cluster, damage, tmp_path, segment) == [0, 1, 2, 50, 51, 52]
    assert [(one.start, one.stop) for one in damage.left_out] == [(3, stop)]


async def test_a_segment_that_is_cut_off_is_named_or_left_out_from_there_on(
    cluster: FakeCluster, tmp_path: Path
) -> None:
    """The scan goes on with the next segment; what could be read of the first one came."""
    whole = bytes(arrow_batch(good_rows(0))) + bytes(arrow_batch(good_rows(3), base_offset=3))
    first = put_segment(tmp_path, "u", 0, 6, whole[:-20])
    second = put_segment(tmp_path, "v", 6, 9, bytes(arrow_batch(good_rows(6), base_offset=6)))
    with pytest.raises(CorruptError, match=r"db\.t, bucket 0, offset 3 cannot be read: .*u/0+\.log is damaged"):
        await read(cluster, Damage(INFO.path), tmp_path, first, second)
    damage = Damage(INFO.path, skips=True)
    assert await read(cluster, damage, tmp_path, first, second) == [0, 1, 2, 6, 7, 8]
    assert [(one.start, one.stop) for one in damage.left_out] == [(3, 6)]
