"""A server that is started without the remote directory that holds its history says so."""

from __future__ import annotations

import pytest

from lakeward.options.server_options import ServerOptions
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.port import Document
from lakeward.server.remote.access.opening import opened_store


@pytest.mark.parametrize("has_history", [True, False])
async def test_history_that_cannot_be_read_is_told(caplog: pytest.LogCaptureFixture, has_history: bool) -> None:
    """With the setting that is missing; a server without history says nothing."""
    metadata = MemoryMetadataStore()
    with metadata.change() as change:
        change.put_document(Document("remote_store", "url", "s3://bucket/here"))
        if has_history:
            change.put_document(Document("remote-logs", "0/-/0", "{}"))
    assert await opened_store(ServerOptions.of({}), metadata) is None
    assert ("start it with remote.data.dir=s3://bucket/here" in caplog.text) is has_history
