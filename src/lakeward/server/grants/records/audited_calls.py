"""Which requests are changes, and what of them is written down: names, and never a value that could be a secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange, Handler

Facts = dict[str, Any]
_NAMED_MAX = 100


def _database(request: Any) -> Facts:
    return {"database": request.database_name[: _NAMED_MAX * 4]}


def _table(request: Any) -> Facts:
    path = request.table_path
    return {"table": f"{path.database_name:.200}.{path.table_name:.200}"}


def _partition(request: Any) -> Facts:
    spec = {pair.key[:200]: pair.value[:200] for pair in request.partition_spec.partition_key_values[:_NAMED_MAX]}
    return {**_table(request), "partition": spec}


def _altered_table(request: Any) -> Facts:
    options = [one.config_key[:200] for one in request.config_changes[:_NAMED_MAX]]
    columns = [one.column_name[:200] for one in request.add_columns[:_NAMED_MAX]]
    return {**_table(request), "options": options, "columns": columns}


def _altered_database(request: Any) -> Facts:
    return {**_database(request), "options": [one.config_key[:200] for one in request.config_changes[:_NAMED_MAX]]}


def _options(request: Any) -> Facts:
    return {"options": [one.config_key[:200] for one in request.alter_configs[:_NAMED_MAX]]}


def _tag(request: Any) -> Facts:
    return {"servers": list(request.server_ids[:_NAMED_MAX]), "tag": request.server_tag}


def _goals(request: Any) -> Facts:
    return {"goals": list(request.goals[:_NAMED_MAX])}


def _nothing(_request: Any) -> Facts:
    return {}


#: Handlers may say more of any of these (`Exchange.concern`).
AUDITED: Mapping[Api, Callable[[Any], Facts]] = {
    Api.CREATE_DATABASE: _database,
    Api.ALTER_DATABASE: _altered_database,
    Api.DROP_DATABASE: _database,
    Api.CREATE_TABLE: _table,
    Api.ALTER_TABLE: _altered_table,
    Api.DROP_TABLE: _table,
    Api.CREATE_PARTITION: _partition,
    Api.DROP_PARTITION: _partition,
    Api.ALTER_CLUSTER_CONFIGS: _options,
    Api.ADD_SERVER_TAG: _tag,
    Api.REMOVE_SERVER_TAG: _tag,
    Api.REBALANCE: _goals,
    Api.CANCEL_REBALANCE: _nothing,
    Api.CREATE_ACLS: _nothing,
    Api.DROP_ACLS: _nothing,
}


def note_subjects(handlers: Mapping[Api, Handler]) -> dict[Api, Handler]:
    """The handlers; those of changes say first what they are about."""
    return {api: _noting(handler, AUDITED[api]) if api in AUDITED else handler for api, handler in handlers.items()}


def _noting(handler: Handler, facts: Callable[[Any], Facts]) -> Handler:
    def handle(request: Any, exchange: Exchange) -> Any:
        exchange.concern(facts(request))
        return handler(request, exchange)

    return handle
