"""ThisServer: what the remote role must know of the server whose data it copies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lakeward.model.bucket import TableBucket
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.dispatch import Exchange
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.books.kv_snapshots import KvSnapshots
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.metadata_store.port import MetadataStore

if TYPE_CHECKING:
    from lakeward.server.remote.copies.snapshot_copies import SnapshotBook
    from lakeward.storage.kv.store.snapshots import Snapshot


class RemoteWork(NamedTuple):
    """What of the remote role is this process's: all of it, unless coordinator and tablet servers are several."""

    #: Copies logs and states of the buckets that are here.
    copies: bool = True
    #: Decides what counts, and what goes with a table that is dropped; copies the metadata, and gives signs of life.
    decides: bool = True
    #: The number of a tablet server, which gives signs of life for its buckets.
    tablet: int | None = None
    #: Whether servers that are not ours may write to the same directories: nothing is removed for not being named.
    is_shared: bool = False


_ALL = RemoteWork()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThisServer:
    """Values, and what may be asked of the other roles."""

    #: What the server was started with, and what is in force now.
    options: ServerOptions
    options_now: Callable[[], ServerOptions]
    clock: Clock
    entropy: Entropy
    metadata: MetadataStore
    catalog: Catalog
    kv_snapshots: KvSnapshots
    buckets: Buckets
    logs: Logs
    writes: WriteStop
    #: Up to where the lake has a bucket; None for tables that are not tiered.
    lake_floor: Callable[[TableBucket], int | None]
    #: Files that tell how far the lake is.
    lake_paths: Callable[[], Iterable[Path]]
    #: Lets go of what is too old in a log that has been copied.
    retain: Callable[[TableBucket], None]
    #: Tells those who wait for rows of a bucket to look again.
    wake: Callable[[TableBucket], None]
    #: Has somebody told of every snapshot of state, on the thread that wrote it.
    on_snapshot: Callable[[Callable[[TableBucket, Snapshot], None]], None]
    #: Answers a request with what a coroutine returns.
    answer_later: Callable[[Exchange, Coroutine[Any, Any, Any]], None]
    #: Runs something on the disk thread, and waits for all that was given to it.
    later: Callable[[Callable[[], None]], None]
    settle: Callable[[], Awaitable[None]]
    work: RemoteWork = _ALL
    #: Where a coordinator elsewhere decides which snapshots of state count.
    snapshot_book: SnapshotBook | None = None
