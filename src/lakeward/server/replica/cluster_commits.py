"""ClusterCommits: what counts of the remote storage of a bucket, as a cluster's ZooKeeper names it. A `Committed`."""

from __future__ import annotations

from lakeward.model.bucket import TableBucket
from lakeward.server.member.committed import CommittedManifest, CommittedSnapshot
from lakeward.server.replica.seat import Nodes, Numbers
from lakeward.server.zookeeper import nodes


class ClusterCommits:
    """A coordinator of Apache's has no message for these questions: its own servers read ZooKeeper, too."""

    #: The coordinator removes a snapshot's files when it lets go of it.
    removes = True

    def __init__(self, found: Nodes, numbers: Numbers) -> None:
        self._nodes = found
        self._numbers = numbers

    async def manifest(self, bucket: TableBucket) -> CommittedManifest | None:
        """The manifest of a bucket's log; None when nothing of it was copied yet."""
        path = nodes.remote_log_path(bucket)
        node = await self._nodes.read(path)
        return None if node is None else CommittedManifest(*nodes.manifest_of(node, path))

    async def snapshots(self, bucket: TableBucket) -> list[CommittedSnapshot]:
        """The snapshots of a bucket's state, oldest first."""
        parent = nodes.snapshots_path(bucket)
        found = []
        for snapshot_id in sorted(int(name) for name in await self._nodes.children(parent) if name.isdecimal()):
            path = f"{parent}/{snapshot_id}"
            node = await self._nodes.read(path)
            if node is not None:  # the coordinator may have let go of it meanwhile
                found.append(CommittedSnapshot(snapshot_id, nodes.snapshot_offset(node, path)))
        return found

    async def next_snapshot_id(self, bucket: TableBucket) -> int | None:
        """A number that no other server of the cluster gets."""
        return await self._numbers.take_number(nodes.snapshot_number_path(bucket))
