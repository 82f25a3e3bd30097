"""OneServer: the map of a cluster that is one process."""

from __future__ import annotations

from lakeward.protocol.messages.metadata import PbServerNode
from lakeward.server.whereabouts.cluster_map import Door, Lead, Servers

#: One process plays both roles; clients tell them apart by role, not by number.
SERVER_ID = 0
_LEAD = Lead(SERVER_ID, 0, (SERVER_ID,))


class OneServer:
    """Everything is here."""

    def servers(self, door: Door) -> Servers:
        """The one there is, twice."""
        here = PbServerNode(node_id=SERVER_ID, host=door.host, port=door.port)
        return Servers(here, (here,))

    def leads(self, table_id: int, partition_id: int | None, count: int) -> tuple[Lead, ...]:  # noqa: ARG002
        """All by the one there is."""
        return (_LEAD,) * count
