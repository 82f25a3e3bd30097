"""Paths of the protocol, and the names in them."""

from __future__ import annotations

from starlette.requests import Request

from lakeward.rest.protocol.failures import RestError, no_table
from lakeward.rest.protocol.names import SEPARATOR, Namespace, TableName, namespace_of, table_of

NAMESPACES = "/v1/namespaces"
NAMESPACE = f"{NAMESPACES}/{{namespace}}"
TABLES = f"{NAMESPACE}/tables"
TABLE = f"{TABLES}/{{table}}"


def asked_namespace(request: Request) -> Namespace:
    """The namespace of a request."""
    return namespace_of(request.path_params["namespace"])


def asked_table(request: Request) -> TableName:
    """The table of a request."""
    namespace, name = request.path_params["namespace"], request.path_params["table"]
    try:
        return table_of(namespace_of(namespace), name)
    except RestError:  # `db.table.snapshots` is looked for as a table first
        raise no_table(".".join([*namespace.split(SEPARATOR), name])) from None
