"""ServerTags: what an operator says of servers: this one will go, or is away for a while."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from lakeward.errors import ErrorCode
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "server-tags"


class ServerTag(enum.IntEnum):
    """What is said."""

    PERMANENT_OFFLINE = 0
    TEMPORARY_OFFLINE = 1


class ServerTags:
    """At most one tag a server, kept in the metadata store. They move nothing: there is nowhere to move to."""

    def __init__(self, store: MetadataStore, servers: Sequence[int]) -> None:
        self._store = store
        self._servers = servers

    def add(self, server_ids: Sequence[int], tag: int) -> None:
        """Tag all of them, or none."""
        wanted = _tag_of(tag)
        for server_id in server_ids:
            if server_id not in self._servers:
                raise ErrorCode.SERVER_NOT_EXIST.error(f"Server {server_id} not exists when trying to add server tag.")
            there = self.get(server_id)
            if there is not None and there is not wanted:
                raise ErrorCode.SERVER_TAG_ALREADY_EXIST.error(
                    f"Server tag {there.name} already exists for server {server_id}. However you want to set it to"
                    f" {wanted.name}, please remove the server tag first."
                )
        with self._store.change() as change:
            for server_id in server_ids:
                change.put_document(Document(AREA, str(server_id), wanted.name))

    def remove(self, server_ids: Sequence[int], tag: int) -> None:
        """Remove it from all of them, or from none; a server without a tag is no obstacle."""
        wanted = _tag_of(tag)
        for server_id in server_ids:
            there = self.get(server_id)
            if there is not None and there is not wanted:
                raise ErrorCode.SERVER_TAG_NOT_EXIST.error(
                    f"Server tag {wanted.name} not exists for server {server_id}, the current server tag of this"
                    f" server is {there.name}."
                )
        with self._store.change() as change:
            for server_id in server_ids:
                change.delete_document(AREA, str(server_id))

    def get(self, server_id: int) -> ServerTag | None:
        """The tag of a server."""
        text = self._store.document(AREA, str(server_id))
        return None if text is None else ServerTag[text]


def _tag_of(number: int) -> ServerTag:
    try:
        return ServerTag(number)
    except ValueError as wrong:
        tags = ", ".join(f"{tag.value} {tag.name}" for tag in ServerTag)
        raise ErrorCode.INVALID_CONFIG.error(f"There is no server tag {number}; there are {tags}.") from wrong
