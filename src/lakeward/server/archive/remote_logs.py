"""RemoteLogs: what is remote of each bucket.

A pointer per bucket in the metadata store names the manifest that counts; to replace it is the commit. Manifests are
written once and never changed. They are read from the store when they are first needed, and kept.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.snapshot import PbRemoteLogManifestEntry, PbTableBucket
from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.remote.formats.snapshot_metadata import path_in_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "remote-logs"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class RemotePointer:
    """Which manifest counts for a bucket, and what people ask most often about it."""

    #: Relative to the store's root, so that a bucket may move.
    remote_log_manifest_path: str
    #: Up to where the log was ever copied.
    remote_log_end_offset: int
    #: The first offset that can be read, None when nothing can any more.
    remote_log_start_offset: int | None
    segment_count: int
    size_in_bytes: int
    #: When the last batch of the oldest segment was appended.
    oldest_timestamp: int | None

    @classmethod
    def of(cls, path: str, manifest: LogManifest) -> RemotePointer:
        """The pointer to a manifest."""
        first = manifest.segments[0] if manifest.segments else None
        return cls(
            path,
            manifest.copied_end_offset,
            manifest.start_offset,
            len(manifest.segments),
            manifest.size_bytes,
            None if first is None else first.time_ms_max,
        )


#: Has somebody else let a manifest count from now on.
TellPointer = Callable[[TableBucket, RemotePointer], Awaitable[None]]


class RemoteLogs:
    """The remote part of all logs. Belongs to the event loop."""

    def __init__(
        self, metadata: MetadataStore, catalog: Catalog, store: RemoteStore, tell: TellPointer | None = None
    ) -> None:
        """`tell` has a coordinator elsewhere commit what is to count; without it, that is done here."""
        self._tell = tell
        self._metadata = metadata
        self._catalog = catalog
        self._store = store
        self.pointers = {_bucket_of(d.key): _pointer_of(d.text) for d in metadata.documents(AREA)}
        self._manifests: dict[TableBucket, LogManifest] = {}
        self._loading: dict[TableBucket, asyncio.Task[LogManifest]] = {}

    # -- what is known at once

    def place(self, bucket: TableBucket) -> BucketPlace:
        """A bucket by all its names; it must exist."""
        table = self._catalog.table_by_id(bucket.table_id)
        if table is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown table or bucket: {bucket}.")
        path = table.path
        if bucket.partition_id is None:
            return BucketPlace(path.database, path.table, table.table_id, bucket.bucket)
        partition = self._catalog.partition_by_id(bucket.partition_id)
        if partition is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown partition of {path}: {bucket}.")
        name, partition_id = partition.name, partition.partition_id
        return BucketPlace(path.database, path.table, table.table_id, bucket.bucket, name, partition_id)

    def url(self, path: str) -> str:
        """A path of the store as clients are told it."""
        return f"{self._store.url}/{path}"

    def remote_end(self, bucket: TableBucket) -> int:
        """Up to where a bucket was copied; 0 when nothing was."""
        pointer = self.pointers.get(bucket)
        return 0 if pointer is None else max(pointer.remote_log_end_offset, 0)

    def start_offset(self, bucket: TableBucket, local_start_offset: int) -> int:
        """The first offset that can be read of a bucket, here or there."""
        pointer = self.pointers.get(bucket)
        start = None if pointer is None else pointer.remote_log_start_offset
        return local_start_offset if start is None else min(start, local_start_offset)

    def peek(self, bucket: TableBucket) -> LogManifest | None:
        """The manifest of a bucket, if it has been read or there is none to read."""
        if bucket in self.pointers:
            return self._manifests.get(bucket)
        return LogManifest(self.place(bucket))

    def manifests_of(self, table_id: int, partition_id: int | None) -> Iterator[PbRemoteLogManifestEntry]:
        """The manifests of a table, or of one of its partitions, as clients are told of them."""
        for bucket, pointer in sorted(self.pointers.items(), key=lambda one: (one[0].partition_id or 0, one[0].bucket)):
            if bucket.table_id == table_id and partition_id in {None, bucket.partition_id}:
                yield PbRemoteLogManifestEntry(
                    table_bucket=PbTableBucket(
                        table_id=table_id, partition_id=bucket.partition_id, bucket_id=bucket.bucket
                    ),
                    remote_log_manifest_path=self.url(pointer.remote_log_manifest_path),
                    remote_log_end_offset=pointer.remote_log_end_offset,
                )

    # -- what must be read

    async def manifest(self, bucket: TableBucket) -> LogManifest:
        """The manifest of a bucket; an empty one when nothing was ever copied."""
        known = self.peek(bucket)
        if known is not None:
            return known
        loading = self._loading.get(bucket)
        if loading is None:
            loading = self._loading[bucket] = asyncio.ensure_future(self._load(bucket))
            loading.add_done_callback(lambda _: self._loading.pop(bucket, None))
        return await asyncio.shield(loading)

    async def _load(self, bucket: TableBucket) -> LogManifest:
        pointer = self.pointers[bucket]
        path = pointer.remote_log_manifest_path
        try:
            manifest = LogManifest.of_json(await self._store.get(path))
        except NotFoundError as wrong:
            raise ErrorCode.LOG_STORAGE.error(
                f"The manifest {self.url(path)} of {bucket} is gone from remote storage, so that older rows cannot be"
                " found. Nothing more is copied, and nothing deleted here, until it is back."
            ) from wrong
        except ValueError as wrong:
            raise ErrorCode.LOG_STORAGE.error(
                f"The manifest {self.url(path)} of {bucket} is damaged: {wrong}."
            ) from wrong
        if self.pointers.get(bucket) is pointer:
            self._manifests[bucket] = manifest
            self.pointers[bucket] = RemotePointer.of(path, manifest)  # what was expected of it is known now
        return manifest

    # -- change

    async def register(self, bucket: TableBucket, manifest: LogManifest, path: str) -> None:
        """Let a manifest that is in the store count from now on, by whoever decides that."""
        if self._tell is not None:
            before = self.pointers.get(bucket)
            await self._tell(bucket, RemotePointer.of(path, manifest))
            if self.pointers.get(bucket) is not before:  # another server has led it meanwhile, and goes on from here
                raise ErrorCode.NETWORK.error(f"Whether the manifest {path} of {bucket} still counts is not known.")
        self.commit(bucket, manifest, path)

    async def adopt(self, bucket: TableBucket, path: str) -> None:
        """Let a manifest count that another server has written, or has committed before."""
        pointer = self.pointers.get(bucket)
        if pointer is None or pointer.remote_log_manifest_path != path:
            self.commit(bucket, LogManifest.of_json(await self._store.get(path)), path)

    def expect(self, bucket: TableBucket, path: str, end: int) -> None:
        """A manifest was committed that cannot be read just now; it is read when it is needed."""
        self.pointers[bucket] = RemotePointer(path, end, 0, 0, 0, None)

    def path_of(self, bucket: TableBucket, url: str) -> str:
        """A path of a bucket's file in the store, from what others are told of it: they may call the root otherwise."""
        directory = self.place(bucket).log
        try:
            return path_in_store(url, directory)
        except ValueError as wrong:
            raise ErrorCode.LOG_STORAGE.error(f"The manifest of {bucket} cannot be found: {wrong}.") from wrong

    def commit(self, bucket: TableBucket, manifest: LogManifest, path: str) -> None:
        """Let a manifest that is in the store count from now on."""
        pointer = RemotePointer.of(path, manifest)
        text = json.dumps({"version": _VERSION, **asdict(pointer)})
        with self._metadata.change() as change:
            change.put_document(Document(AREA, _key(bucket), text))
        self.pointers[bucket] = pointer
        self._manifests[bucket] = manifest

    def forget(self, buckets: Iterable[TableBucket]) -> None:
        """Forget buckets that were dropped; their files are somebody else's business."""
        known = [bucket for bucket in buckets if bucket in self.pointers]
        if known:
            with self._metadata.change() as change:
                for bucket in known:
                    change.delete_document(AREA, _key(bucket))
        for bucket in known:
            del self.pointers[bucket]
            self._manifests.pop(bucket, None)


def _key(bucket: TableBucket) -> str:
    partition = "-" if bucket.partition_id is None else bucket.partition_id
    return f"{bucket.table_id}/{partition}/{bucket.bucket}"


def _bucket_of(key: str) -> TableBucket:
    table_id, partition, number = key.split("/")
    return TableBucket(int(table_id), None if partition == "-" else int(partition), int(number))


def _pointer_of(text: str) -> RemotePointer:
    node = json.loads(text)
    return RemotePointer(**{name: node[name] for name in RemotePointer.__slots__})
