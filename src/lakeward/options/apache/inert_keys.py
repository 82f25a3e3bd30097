"""Server options of Apache Fluss that have no effect here: a configuration file of theirs still starts our server.

They are listed one by one, so that a misspelt key is refused rather than swallowed.
"""

from __future__ import annotations

_FAMILIES = {
    "acl": ("notification.expiration-time",),
    "config": ("providers",),
    "coordinator": (
        "host",
        "port",
        "io-pool.size",
        "lifecycle-throttler.inflight-timeout",
        "lifecycle-throttler.timeout-check-interval",
        "offline-leader.retry-delay",
    ),
    "data": ("dirs",),
    "kv": (
        "backpressure.l0-slowdown-trigger",
        "flush.thread-num",
        "leader-replica.memory-reserved",
        "recover.log-record-batch.max-size",
        "recover.remote-log.download-threads",
        "recover.remote-log.prefetch-num",
        "scanner.expiration-interval",
        "scanner.max-batch-size",
        "scanner.max-per-bucket",
        "scanner.max-per-server",
        "scanner.ttl",
        "snapshot.scheduler-thread-num",
        "snapshot.transfer-thread-num",
    ),
    "lake": ("tiering.auto-expire-snapshot", "tiering.io.tmp.dirs"),
    "log": (
        "file-preallocate",
        "replica.fetch-operation-purge-number",
        "replica.fetch.min-bytes",
        "replica.fetcher-number",
        "replica.write-operation-purge-number",
    ),
    "netty": (
        "client.allocator.heap-buffer-first",
        "client.num-network-threads",
        "server.max-queued-requests",
        "server.max-queued-historical-requests",
        "server.num-network-threads",
        "server.num-worker-threads",
    ),
    "remote": (
        "data.dirs",
        "data.dirs.strategy",
        "data.dirs.weights",
        "fs.write-buffer-size",
        "log-manager.thread-pool-size",
    ),
    "server": (
        "background.threads",
        "buffer.memory-size",
        "buffer.page-size",
        "buffer.per-request-memory-size",
        "buffer.wait-timeout",
        "data-disk.check-interval",
        "historical-partition.lookup-cache.max-disk-ratio",
        "historical-partition.lookuper-cache.expire-after-access",
        "historical-partition.thread-pool.max-size",
        "io-pool.size",
        "io.tmpdir",
    ),
    "tablet-server": (
        "advertised-resource.cpu-cores",
        "advertised-resource.memory-size",
        "controlled-shutdown.max-retries",
        "controlled-shutdown.retry-interval",
        "host",
        "id",
        "port",
        "rack",
    ),
}

INERT_KEYS = tuple(f"{family}.{name}" for family, names in _FAMILIES.items() for name in names)
