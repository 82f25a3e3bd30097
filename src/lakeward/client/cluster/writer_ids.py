"""Writer ids, lent to writers and taken back.

The server recognises a repeated batch by writer id, bucket and sequence. A writer that ended well gives its id back
with the sequences it reached, so that the next one need not ask for a new id. One that failed keeps its id to itself:
nobody knows what the server has seen of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import count

from lakeward.client.cluster.cluster import Cluster, pb_path
from lakeward.client.cluster.patience import patiently
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import InitWriterRequest
from lakeward.records.batch.batch_header import NO_WRITER

#: Servers forget idle writers after seven days; long before that we do.
_IDLE_S_MAX = 3600


@dataclass(slots=True)
class WriterIdentity:
    """A writer id and the next sequence of each bucket it has written to."""

    writer_id: int
    next_sequences: dict[TableBucket, int] = field(default_factory=dict)
    idle_since_s: float = 0.0


class WriterIds:
    """The identities of one connection that no writer uses at the moment."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._idle: list[WriterIdentity] = []
        #: Numbers the tables that were opened, so that rows of each begin at another bucket.
        self.turns = count()

    async def borrow(self, path: TablePath) -> WriterIdentity:
        """An identity that nobody else uses."""
        if not self._cluster.settings.idempotent:
            return WriterIdentity(NO_WRITER)
        return self.take_idle() or WriterIdentity(await self.fresh(path))

    def take_idle(self) -> WriterIdentity | None:
        """An identity that is at hand, if there is one; for any thread."""
        now_s = time.monotonic()
        while True:
            try:
                identity = self._idle.pop()
            except IndexError:  # not asked before: another thread may have taken the last one meanwhile
                return None
            if now_s - identity.idle_since_s < _IDLE_S_MAX:
                return identity

    def give_back(self, identity: WriterIdentity) -> None:
        """Every batch sent under this identity was acknowledged."""
        if identity.writer_id != NO_WRITER:
            identity.idle_since_s = time.monotonic()
            self._idle.append(identity)

    async def fresh(self, path: TablePath) -> int:
        """A writer id that was never used; servers that are away are waited for, as with every write."""
        request = InitWriterRequest(table_path=(pb_path(path),))
        answer = await patiently(self._cluster, lambda: self._cluster.ask_tablet(Api.INIT_WRITER, request))
        return int(answer.writer_id)
