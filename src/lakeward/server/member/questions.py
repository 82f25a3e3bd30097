"""Questions: what clients ask a tablet server and its coordinator answers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.member.coordinator import CoordinatorLink

#: What a client may ask any server for, and a coordinator knows.
QUESTIONS = (
    Api.LIST_DATABASES,
    Api.DATABASE_EXISTS,
    Api.GET_DATABASE_INFO,
    Api.LIST_TABLES,
    Api.TABLE_EXISTS,
    Api.GET_TABLE_INFO,
    Api.GET_TABLE_SCHEMA,
    Api.LIST_PARTITION_INFOS,
    Api.INIT_WRITER,
    Api.GET_LATEST_KV_SNAPSHOTS,
    Api.GET_KV_SNAPSHOT_METADATA,
    Api.GET_LAKE_SNAPSHOT,
    Api.DESCRIBE_CLUSTER_CONFIGS,
    Api.GET_CLUSTER_HEALTH,
)


def questions(
    coordinator: CoordinatorLink, answer_later: Callable[[Exchange, Coroutine[Any, Any, Any]], None]
) -> dict[Api, Handler]:
    """One handler per API, which hands the question on."""

    def hand_on(request: Any, exchange: Exchange) -> None:
        answer_later(exchange, coordinator.ask(exchange.api, request))

    return dict.fromkeys(QUESTIONS, hand_on)
