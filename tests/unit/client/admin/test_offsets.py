"""Buckets and positions as people name them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from fake_cluster import FakeCluster, table_info

from lakeward.client.admin.offsets import TableOffsets, epoch_ms
from lakeward.client.admin.partitions import Partitions
from lakeward.client.forms.results import BucketId, PartitionInfo, Timestamp
from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import ListOffsetsRequest, ListOffsetsResponse, PbListOffsetsRespForBucket
from lakeward.protocol.messages.partition import ListPartitionInfosResponse, PbPartitionInfo, PbPartitionSpec
from lakeward.protocol.messages.shared import PbKeyValue
from lakeward.protocol.messages.table import GetTableStatsRequest, GetTableStatsResponse, PbTableStatsRespForBucket


class Server(FakeCluster):
    """Bucket n has the offset 10·n; keeps what was asked."""

    def __init__(self, *codes: ErrorCode) -> None:
        super().__init__()
        self.workers.shutdown()
        self.codes = list(codes)
        self.questions: list[ListOffsetsRequest] = []

    async def leader(self, *_: Any) -> Any:
        """This server leads everything."""
        return self

    async def request(self, api: Api, message: ListOffsetsRequest) -> ListOffsetsResponse:
        """Offsets, or an error while there are any."""
        self.questions.append(message)
        code = self.codes.pop(0).value if self.codes else None
        return ListOffsetsResponse(
            buckets_resp=tuple(
                PbListOffsetsRespForBucket(bucket_id=b, error_code=code, offset=b * 10) for b in message.bucket_id
            )
        )


def offsets_on(server: Server, **table: Any) -> TableOffsets:
    """Questions about the test table."""
    info = table_info(**table)
    return TableOffsets(server, info, Partitions(server, info))  # type: ignore[arg-type]


def partitioned() -> Server:
    """A server that knows partitions a and b."""
    server = Server()
    server.answers[Api.LIST_PARTITION_INFOS] = ListPartitionInfosResponse(
        partitions_info=tuple(
            PbPartitionInfo(
                partition_id=i,
                partition_spec=PbPartitionSpec(partition_key_values=(PbKeyValue(key="name", value=name),)),
            )
            for i, name in enumerate("ba")
        )
    )
    return server


@pytest.mark.parametrize(
    ("at", "asked"),
    [
        ("earliest", (0, None)),
        ("latest", (1, None)),
        (Timestamp(1234), (2, 1234)),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), (2, 1_704_067_200_000)),
    ],
)
async def test_positions(at: Any, asked: tuple[int, int | None]) -> None:
    """Words and times become the protocol's questions; all buckets of a leader are asked at once."""
    server = Server()
    found = await offsets_on(server, buckets=3).of_all(at)
    assert {place.id: offset for place, offset in found.items()} == {BucketId(None, b): b * 10 for b in range(3)}
    (question,) = server.questions
    assert (question.offset_type, question.start_timestamp) == asked
    assert question.bucket_id == (0, 1, 2)


async def test_what_is_no_position_is_refused() -> None:
    """The message lists what is."""
    with pytest.raises(LakewardError, match="earliest"):
        await offsets_on(Server()).of_all("soonest")


async def test_a_moved_leader_is_asked_again() -> None:
    """NOT_LEADER is no error for the user."""
    server = Server(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    found = await offsets_on(server).of_all("latest")
    assert list(found.values()) == [0]
    assert len(server.metadata.forgotten) == 1


async def test_other_errors_name_the_bucket() -> None:
    """A time in the future is the user's to change."""
    with pytest.raises(LakewardError, match=r"db\.t, bucket 0") as caught:
        await offsets_on(Server(ErrorCode.INVALID_TIMESTAMP)).of_all(Timestamp(1 << 50))
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP


async def test_partitions_are_chosen_by_name_or_spec() -> None:
    """All of them unless some are named."""
    offsets = offsets_on(partitioned(), partition_by=("name",), buckets=2)
    assert [p.id for p in await offsets.places()] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert [p.id for p in await offsets.places(["b"], [1])] == [("b", 1)]
    assert [p.bucket.partition_id for p in await offsets.places([{"name": "a"}], [0])] == [1]


async def test_a_few_partitions_are_found_without_listing_all() -> None:
    """There may be thousands; one that was listed before asks nobody, and many are listed at once."""
    server = partitioned()
    server.metadata.partitions = {"a": 1}
    listed, server.answers = server.answers, {}
    offsets = offsets_on(server, partition_by=("name",))
    assert [p.bucket.partition_id for p in await offsets.places(["a"])] == [1]
    assert [p.bucket.partition_id for p in await offsets.places([PartitionInfo(7, "z", {"name": "z"})])] == [7]
    server.answers = listed
    assert [p.bucket.partition_id for p in await offsets.places(["b", "a"])] == [0, 1]


async def test_a_partition_that_is_not_there_is_an_error() -> None:
    """Reading nothing instead would hide a misspelling."""
    with pytest.raises(LakewardError, match="'c'") as caught:
        await offsets_on(partitioned(), partition_by=("name",)).places(["c"])
    assert caught.value.code is ErrorCode.PARTITION_NOT_EXISTS


async def test_a_bucket_that_is_not_there_is_an_error() -> None:
    """The message says which there are."""
    with pytest.raises(LakewardError, match="0 to 2"):
        await offsets_on(Server(), buckets=3).places(None, [3])


def test_times_are_whole_milliseconds() -> None:
    """The protocol knows nothing finer."""
    assert epoch_ms(dt.datetime(1970, 1, 1, 0, 0, 1, 234_567, tzinfo=dt.UTC)) == 1234


class Counting(FakeCluster):
    """Each bucket holds five rows; the first questions fail."""

    def __init__(self, *codes: ErrorCode) -> None:
        super().__init__()
        self.workers.shutdown()
        self.codes = list(codes)

    def supports(self, api: Api) -> bool:
        """It counts rows."""
        return api is Api.GET_TABLE_STATS

    async def leader(self, *_: Any) -> Any:
        """This server leads everything."""
        return self

    async def request(self, api: Api, message: GetTableStatsRequest) -> GetTableStatsResponse:
        """Five, or an error while there are any."""
        code = self.codes.pop(0).value if self.codes else None
        one = PbTableStatsRespForBucket(bucket_id=message.buckets_req[0].bucket_id, error_code=code, row_count=5)
        return GetTableStatsResponse(buckets_resp=(one,))


async def test_rows_are_counted_by_a_leader_that_has_just_been_elected() -> None:
    """A server that does not know yet that it leads is asked again."""
    server = Counting(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    info = table_info()
    counted = await TableOffsets(server, info, Partitions(server, info)).count()  # type: ignore[arg-type]
    assert counted == 5 * info.bucket_count


async def test_leaders_of_many_partitions_are_asked_for_together() -> None:
    """Not partition by partition; if one is gone meanwhile, each is looked for by itself."""
    server = partitioned()
    server.metadata.partitions = {"a": 1, "b": 0}
    server.metadata.unknown = True
    offsets = offsets_on(server, partition_by=("name",))
    await offsets.of_all("latest")
    assert server.metadata.asked == [["a", "b"]]
    server.metadata.partitions = {}
    assert len(await offsets.of_all("latest")) == 2
