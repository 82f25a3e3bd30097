"""One handler per API that touches logs."""

from __future__ import annotations

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.server.tablet.kv.lazy_kv import KV_APIS, LazyKv
from lakeward.server.tablet.log.fetch import Fetches
from lakeward.server.tablet.log.produce import Appends
from lakeward.server.tablet.scans import Scans


def tablet_handlers(appends: Appends, fetches: Fetches, scans: Scans, kv: LazyKv) -> dict[Api, Handler]:
    """The APIs of the tablet role."""
    return {
        Api.PRODUCE_LOG: appends.handle,
        Api.FETCH_LOG: fetches.handle,
        Api.LIST_OFFSETS: scans.list_offsets,
        Api.LIMIT_SCAN: scans.limit_scan,
        Api.GET_TABLE_STATS: scans.table_stats,
        **{api: kv.handler(api) for api in KV_APIS},
    }
