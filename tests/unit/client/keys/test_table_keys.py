"""Keys and buckets of whole columns, as the format reference has them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from fake_cluster import table_info

from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.errors import InvalidError, UnsupportedError
from lakeward.protocol.api import Api

ROW = pa.record_batch({"a": pa.array([300], pa.int32()), "b": ["key-001"], "c": pa.array([-1], pa.int32())})


def keys_of(key: str, *, lake: str | None = None, version: int | None = None, bucket_by: tuple[str, ...] = ()) -> Any:
    """A table of eight buckets."""
    properties = {"table_datalake_format": lake} if lake else {}
    if version:
        properties["table_kv_format__version"] = str(version)
    columns = f"a INT, b STRING, c INT, PRIMARY KEY ({key}) NOT ENFORCED"
    return TableKeys(table_info(columns, buckets=8, bucket_by=bucket_by, **properties))


@pytest.mark.parametrize(
    ("keys", "stored", "bucket"),
    [
        (keys_of("a, b"), "ac02 07 6b65792d303031", 2),
        (keys_of("b, a", bucket_by=("b",)), "07 6b65792d303031 ac02", 6),
        (keys_of("a, b", lake="paimon"), "0000000000000000 2c01000000000000 6b65792d30303187", 5),
        (keys_of("b, a", lake="paimon", bucket_by=("b",)), "0000000000000000 6b65792d30303187 2c01000000000000", 5),
        (keys_of("b, a", lake="paimon", version=2, bucket_by=("b",)), "07 6b65792d303031 ac02", 5),
        (keys_of("b, a", lake="iceberg", version=2, bucket_by=("b",)), "07 6b65792d303031 ac02", 0),
    ],
    ids=["own", "own bucket key", "paimon", "paimon v1", "paimon v2", "iceberg v2"],
)
def test_composite_keys_of_the_format_reference(keys: TableKeys, stored: str, bucket: int) -> None:
    """Section 4.6: stored key bytes and bucket, as seen on the wire (of pyfluss, where the two disagree)."""
    encoded = keys.encode(ROW)
    assert encoded[0] == bytes.fromhex(stored)
    assert keys.buckets(ROW, encoded, Bucketing.PYFLUSS).tolist() == [bucket]


@pytest.mark.parametrize(
    ("value", "java", "pyfluss"),
    [(0, 8, 8), (1, 12, 12), (-1, 10, 10), (128, 2, 7), (300, 5, 11)],
)
def test_the_two_ways_of_bucketing(value: int, java: int, pyfluss: int) -> None:
    """Section 5: INT keys on 16 buckets."""
    keys = TableKeys(table_info("a INT, PRIMARY KEY (a) NOT ENFORCED", buckets=16))
    rows = pa.record_batch({"a": pa.array([value], pa.int32())})
    encoded = keys.encode(rows)
    assert keys.buckets(rows, encoded, Bucketing.JAVA).tolist() == [java]
    assert keys.buckets(rows, encoded, Bucketing.PYFLUSS).tolist() == [pyfluss]


def test_the_partition_is_no_part_of_the_stored_key() -> None:
    """Keys are stored within their partition."""
    info = table_info("dt STRING, a INT, PRIMARY KEY (dt, a) NOT ENFORCED", partition_by=("dt",), buckets=2)
    keys = TableKeys(info)
    rows = pa.record_batch({"dt": ["x", "y"], "a": pa.array([5, 5], pa.int32())})
    assert [keys.encode(rows)[i] for i in range(2)] == [b"\x05", b"\x05"]
    assert [c.name for c in keys.primary] == ["dt", "a"]
    assert keys.prefix_forms.batch(("x", 5)).schema.names == ["dt", "a"]


def test_prefixes_begin_the_stored_keys() -> None:
    """And where the bucket key does not begin the key, there are none."""
    keys = keys_of("b, a", bucket_by=("b",))
    keys.check_prefix()
    assert keys.encode(ROW)[0].startswith(keys.encode_prefixes(ROW)[0])
    for without in (keys_of("a, b"), keys_of("a, b", bucket_by=("b",))):
        with pytest.raises(InvalidError, match="bucket_by"):
            without.check_prefix()


class OldServer:
    """Speaks version 0 of everything."""

    address = "there:9123"

    def version(self, api: Api) -> int:
        """The lowest."""
        return 0


@pytest.mark.parametrize(("version", "refused"), [(None, False), (1, False), (2, True)])
def test_old_servers_are_not_given_keys_they_would_misread(version: int | None, refused: bool) -> None:
    """A lake format, a bucket key of one's own and version 2 of the key format need version 1 of the API."""
    keys = keys_of("b, a", lake="paimon", version=version, bucket_by=("b",))
    keys_of("a, b", version=2).check_version(OldServer(), Api.LOOKUP)
    if refused:
        with pytest.raises(UnsupportedError, match="there:9123 is older"):
            keys.check_version(OldServer(), Api.LOOKUP)  # type: ignore[arg-type]
    else:
        keys.check_version(OldServer(), Api.LOOKUP)  # type: ignore[arg-type]


def test_a_key_that_a_lake_cannot_have_is_refused() -> None:
    """When the table is opened for keys, not at the first row."""
    with pytest.raises(InvalidError, match="exactly one column"):
        keys_of("a, b", lake="iceberg")
