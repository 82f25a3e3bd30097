"""The control APIs of a coordinator, by API."""

from __future__ import annotations

from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.balance import BalanceHandlers
from lakeward.server.coordinator.handlers.cluster import ClusterHandlers
from lakeward.server.coordinator.handlers.database import DatabaseHandlers
from lakeward.server.coordinator.handlers.handler import Handlers
from lakeward.server.coordinator.handlers.kv_snapshot import KvSnapshotHandlers
from lakeward.server.coordinator.handlers.lake import LakeHandlers
from lakeward.server.coordinator.handlers.metadata import MetadataHandlers
from lakeward.server.coordinator.handlers.partition import PartitionHandlers
from lakeward.server.coordinator.handlers.producer import ProducerHandlers
from lakeward.server.coordinator.handlers.remote_log import ManifestsOf, RemoteLogHandlers
from lakeward.server.coordinator.handlers.table import TableHandlers

_FAMILIES = (
    DatabaseHandlers,
    TableHandlers,
    PartitionHandlers,
    MetadataHandlers,
    ClusterHandlers,
    BalanceHandlers,
    KvSnapshotHandlers,
    LakeHandlers,
    ProducerHandlers,
)


def handlers(coordinator: Coordinator, manifests_of: ManifestsOf = lambda _table_id, _partition_id: ()) -> Handlers:
    """One function per control API: from the decoded request and its caller to the response.

    `manifests_of` tells what is in remote storage of a table; by default nothing is.
    """
    found = RemoteLogHandlers(coordinator.catalog, manifests_of).handlers()
    for family in _FAMILIES:
        found |= family(coordinator).handlers()
    return found
