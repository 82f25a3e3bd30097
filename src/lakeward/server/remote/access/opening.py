"""The store of `remote.data.dir`, checked when the server starts.

Wrong keys, a missing bucket, a place where nothing can be written: the server does not start and says why. A store
that does not answer is waited for (`remote.store.startup-timeout`). If it is still silent then, the server starts all
the same when it has used this store before, since that is an outage and not a mistake; copies go on when it is back.
"""

from __future__ import annotations

import asyncio
import json
import logging

from lakeward.errors import ErrorCode, RetriableError
from lakeward.options import remote_store as rows
from lakeward.options.server import REMOTE_DATA_DIR
from lakeward.options.server_options import ServerOptions
from lakeward.remote.open_store import check_store, open_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.metadata_store.port import Document, MetadataStore

_log = logging.getLogger(__name__)
_AREA, _KEY = "remote_store", "url"
_LOGS = "remote-logs"


async def opened_store(options: ServerOptions, metadata: MetadataStore) -> RemoteStore | None:
    """The store that this server copies to, None when there is none; an error says in one sentence what is wrong."""
    url = options.get(REMOTE_DATA_DIR)
    if url is None:
        before = metadata.document(_AREA, _KEY)
        if before is not None and any(metadata.documents(_LOGS)):
            _log.error(
                "Part of the history of this server's tables is in %s and cannot be read: start it with "
                "remote.data.dir=%s.",
                before,
                before,
            )
        return None
    _warn_of_unused(options)
    store = open_store(url, options.texts)
    before = metadata.document(_AREA, _KEY)
    is_known = before == store.url
    try:
        await _check(url, options)
    except RetriableError as wrong:
        if not is_known:
            raise
        _log.warning("%s It was there before; copies go on when it is back.", wrong.message)
    if not is_known:
        await _check_moved(before, store, metadata)
        with metadata.change() as change:
            change.put_document(Document(_AREA, _KEY, store.url))
    return store


async def _check(url: str, options: ServerOptions) -> None:
    patience_ms = options.get(rows.STARTUP_TIMEOUT)
    patience = rows.STARTUP_TIMEOUT.show(patience_ms)
    hurried = {rows.REQUEST_TIMEOUT.key: patience, rows.RETRY_TIMEOUT.key: patience}
    store = open_store(url, {**options.texts, **hurried})
    try:
        async with asyncio.timeout(2 * patience_ms / 1000):
            await check_store(store)
    except TimeoutError as wrong:
        raise ErrorCode.STORAGE.error(f"The remote storage {store.url} cannot be used: it does not answer.") from wrong
    finally:
        await store.close()


async def _check_moved(before: str | None, store: RemoteStore, metadata: MetadataStore) -> None:
    """A server whose history is elsewhere would take rows for copied that are not in the new place."""
    for pointer in metadata.documents(_LOGS):
        path = json.loads(pointer.text)["remote_log_manifest_path"]
        if await store.head(path) is None:
            await store.close()
            raise ErrorCode.INVALID_CONFIG.error(
                f"remote.data.dir was {before} and is {store.url} now, but the history of this server's tables is not"
                f" there: {path} is missing. Copy all files to the new place first, or go back to {before}."
            )


def _warn_of_unused(options: ServerOptions) -> None:
    for key in options.texts:
        if key.startswith(("s3.", "fs.s3a.")) and key not in rows.REMOTE_STORE_OPTIONS.rows:
            _log.warning("'%s' is not used.%s", key, rows.REMOTE_STORE_OPTIONS.nearest(key))
