"""What is written to ZooKeeper is what Apache's servers write and read, as recorded from a 0.9.1 cluster."""

from __future__ import annotations

import json

import pytest

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.options.endpoint import Endpoint
from lakeward.server.zookeeper import nodes

_COORDINATOR = b'{"version":2,"id":"3da4617a-d50b-4b79-90f0-d7fcc1e7bcd8","listeners":"FLUSS://127.0.0.1:37677"}'
_TABLET = b'{"version":3,"listeners":"FLUSS://127.0.0.1:55187","register_timestamp":1795000128762}'


def test_a_registration_is_that_of_apaches_servers() -> None:
    """Byte for byte; a rack where there is one."""
    here = [Endpoint("FLUSS", "127.0.0.1", 55187)]
    assert nodes.registration(here, 1795000128762, None) == _TABLET
    assert json.loads(nodes.registration(here, 1, "r1"))["rack"] == "r1"
    assert nodes.server_path(3) == "/tabletservers/ids/3"


def test_addresses_are_read_by_listener() -> None:
    """Of a coordinator, of a server with two listeners, and in the oldest form."""
    assert nodes.addresses(_COORDINATOR, "/x") == {"FLUSS": ("127.0.0.1", 37677)}
    two = b'{"version":3,"listeners":"FLUSS://a:1,CLIENT://b:2","register_timestamp":1}'
    assert nodes.addresses(two, "/x") == {"FLUSS": ("a", 1), "CLIENT": ("b", 2)}
    assert nodes.addresses(b'{"version":1,"host":"a","port":1}', "/x") == {"CLIENT": ("a", 1)}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version":2,"listeners":"nowhere"}'])
def test_what_is_no_address_is_an_error_that_names_the_node(content: bytes) -> None:
    """Whoever looks after the cluster is told where to look."""
    with pytest.raises(LakewardError, match="/coordinators/active"):
        nodes.addresses(content, nodes.COORDINATOR)


def test_counters_are_eight_bytes() -> None:
    """As Curator writes them; what was never a number is none."""
    assert nodes.counter_value(b"\x00\x00\x00\x00\x00\x00\x00\x02") == 2
    assert nodes.counter_node(2) == b"\x00\x00\x00\x00\x00\x00\x00\x02"
    assert nodes.counter_value(b"127.0.0.1") == 0


def test_what_counts_of_a_bucket_s_remote_storage() -> None:
    """Nodes as a 0.9.1 coordinator writes them, of a table's bucket and of a partition's."""
    bucket, of_partition = TableBucket(4, None, 2), TableBucket(4, 9, 2)
    assert nodes.remote_log_path(bucket) == "/tabletservers/tables/4/buckets/2/remote_logs"
    assert nodes.snapshots_path(of_partition) == "/tabletservers/partitions/9/buckets/2/snapshots"
    assert nodes.snapshot_number_path(bucket) == "/tabletservers/tables/4/buckets/2/snapshot_seqid"
    manifest = b'{"version":1,"remote_log_manifest_path":"/r/log/m.manifest","remote_log_end_offset":900}'
    assert nodes.manifest_of(manifest, "/x") == ("/r/log/m.manifest", 900)
    snapshot = b'{"version":1,"snapshot_id":3,"log_offset":77,"metadata_path":"/r/kv/snap-3/_METADATA"}'
    assert nodes.snapshot_offset(snapshot, "/x") == 77
    for read in (nodes.manifest_of, nodes.snapshot_offset):
        with pytest.raises(LakewardError, match="/x"):
            read(b"[]", "/x")
