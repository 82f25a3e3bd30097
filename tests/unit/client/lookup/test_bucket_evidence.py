"""Whose way of bucketing a table follows, and what happens when its rows say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fake_cluster import FakeCluster, table_info

from lakeward.client.admin.offsets import Place
from lakeward.client.forms.results import BucketId
from lakeward.client.keys.conventions import PROPERTY, Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup import bucket_evidence
from lakeward.client.lookup.bucket_evidence import BucketEvidence
from lakeward.client.lookup.lookups import AskedKeys, FoundValues
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.records.kernels.spans import Spans

COLUMNS = "id BIGINT, PRIMARY KEY (id) NOT ENFORCED"
#: With 16 buckets Java keeps 300 in bucket 5, pyfluss in 11; they agree on 5.
JAVA, PYFLUSS = 5, 11


class Buckets:
    """The rows of a table by bucket, as lookups and samples find them."""

    def __init__(self, info: TableInfo, rows: dict[int, list[int]]) -> None:
        self.info, self.rows, self.keys = info, rows, TableKeys(info)
        self.sought: list[list[int]] = []
        self.sampled: list[int] = []

    async def find(self, asked: AskedKeys, way: Bucketing, *, only: np.ndarray[Any, Any]) -> FoundValues:
        """As Lookups.find does."""
        ids = asked.rows["id"].to_pylist()
        buckets = self.keys.buckets(asked.rows, asked.keys, way)
        self.sought.append([ids[i] for i in only])
        places = [0 if i in only and ids[i] in self.rows.get(int(buckets[i]), []) else -1 for i in range(len(ids))]
        return FoundValues(Spans.of([]), np.array(places))

    async def places(self) -> list[Place]:
        """All buckets."""
        return [Place(TableBucket(7, None, i), BucketId(None, i)) for i in range(self.info.bucket_count)]

    async def limited_values(self, _cluster: Any, _info: Any, place: Place, limit: int) -> list[int]:
        """A few rows of a bucket."""
        self.sampled.append(place.bucket.bucket)
        return self.rows.get(place.bucket.bucket, [])[:limit]

    async def decode(self, values: Sequence[int]) -> pa.RecordBatch:
        """The rows as Arrow."""
        return batch(*values)


def batch(*ids: int) -> pa.RecordBatch:
    """Keys as columns."""
    return pa.record_batch({"id": pa.array(ids, pa.int64())})


class Case:
    """Evidence of a table with some rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rows: dict[int, list[int]], **options: Any) -> None:
        told, said = options.pop("told", None), options.pop("said", None)
        info = table_info(COLUMNS, **{"buckets": 16, **options})
        if said:
            info = replace(info, descriptor=replace(info.descriptor, custom_properties={PROPERTY: said}))
        self.buckets = Buckets(info, rows)
        monkeypatch.setattr(bucket_evidence, "limited_values", self.buckets.limited_values)
        monkeypatch.setattr(bucket_evidence, "ValueDecoder", lambda *_: self.buckets)
        monkeypatch.setattr(bucket_evidence, "TableOffsets", lambda *_: self.buckets)
        cluster: Any = FakeCluster()
        cluster.workers.shutdown()
        lookups: Any = self.buckets
        partitions: Any = None
        self.evidence = BucketEvidence(cluster, info, partitions, self.buckets.keys, lookups, told)

    async def missing(self, *ids: int) -> None:
        """Ask for an explanation of keys that were not found."""
        asked = AskedKeys(batch(*ids), self.buckets.keys.encode(batch(*ids)))
        await self.evidence.explain_missing(asked, np.arange(len(ids)))


@pytest.mark.parametrize(
    ("said", "told", "expected"),
    [
        (None, None, Bucketing.JAVA),
        ("pyfluss", None, Bucketing.PYFLUSS),
        ("java", None, Bucketing.JAVA),
        ("pyfluss", Bucketing.JAVA, Bucketing.JAVA),
        (None, Bucketing.PYFLUSS, Bucketing.PYFLUSS),
    ],
)
async def test_the_program_counts_more_than_the_table_and_java_is_the_rest(
    monkeypatch: pytest.MonkeyPatch, said: str | None, told: Bucketing | None, expected: Bucketing
) -> None:
    """Who says nothing follows Java; who says something is not examined."""
    case = Case(monkeypatch, {PYFLUSS: [300]}, said=said, told=told)
    assert case.evidence.bucketing is expected
    if said or told:
        assert await case.evidence.for_writing() is expected
        await case.missing(300)
        assert (case.buckets.sampled, case.buckets.sought) == ([], [])


async def test_a_missing_key_that_pyfluss_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the key, both buckets, and the way out."""
    case = Case(monkeypatch, {PYFLUSS: [300]})
    with pytest.raises(LakewardError, match=r"id=300 lies in bucket 11.* in bucket 5.*alter_table\('db.t'") as raised:
        await case.missing(5, 300)
    assert raised.value.code is ErrorCode.INVALID_CONFIG
    assert case.buckets.sought == [[300]], "both agree on 5"


async def test_keys_that_are_nowhere_are_sought_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call costs a second request at most, and in the end none."""
    case = Case(monkeypatch, {})
    monkeypatch.setattr(bucket_evidence, "_SOUGHT_AT_ONCE", 2)
    case.evidence._sought_left = 3
    for _ in range(4):
        await case.missing(300, 302, 303)
    assert case.buckets.sought == [[300, 302], [300]]


async def test_nothing_is_written_to_a_table_of_pyfluss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row where only pyfluss would have put it stops the first write, and every later one."""
    case = Case(monkeypatch, {}, buckets=2)
    one = case.buckets.keys.encode_one
    ways = (Bucketing.JAVA, Bucketing.PYFLUSS)
    stray = next(i for i in range(128, 400) if [one([i], way)[1] for way in ways] == [1, 0])
    case.buckets.rows = {0: [stray]}
    for _ in range(2):
        with pytest.raises(LakewardError, match=f"id={stray} lies in bucket 0, where pyfluss puts it"):
            await case.evidence.for_writing()


async def test_a_table_that_agrees_is_sampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four buckets of many are looked at before the first write, and none after."""
    case = Case(monkeypatch, {JAVA: [300]})
    for _ in range(3):
        assert await case.evidence.for_writing() is Bucketing.JAVA
    assert case.buckets.sampled == [0, 4, 8, 12]


@pytest.mark.parametrize("options", [{"buckets": 1}, {"table_datalake_format": "paimon"}])
async def test_where_both_agree_nobody_asks(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """One bucket is one bucket, and Paimon's keys have no last bytes to disagree on."""
    case = Case(monkeypatch, {}, **options)
    await case.evidence.for_writing()
    await case.missing(300)
    assert (case.buckets.sampled, case.buckets.sought) == ([], [])
