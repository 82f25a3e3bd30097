"""lakeward acls: list, grant, revoke."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import DatabaseName, TableName
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import count, output_option, say, show_listing
from lakeward.model.acl import ANY_NAME, CLUSTER, EVERYBODY, Acl, AclFilter, Operation, Resource, ResourceType
from lakeward.model.principal import USER_TYPE, Principal

_COLUMNS = ["principal", "operation", "resource", "name", "host"]
_OPERATIONS = [one.name for one in Operation if one is not Operation.ANY]


def _principal(context: click.Context, option: click.Parameter, given: str | None) -> Principal | None:
    """`alice` is `User:alice`, `*` is everybody."""
    if given is None:
        return None
    if given == ANY_NAME:
        return EVERYBODY
    kind, colon, name = given.partition(":")
    if not (name if colon else kind):
        raise click.BadParameter("a principal is NAME, User:NAME, or * for everybody.", context, option)
    return Principal(name, kind) if colon else Principal(given, USER_TYPE)


def _operations(context: click.Context, option: click.Parameter, given: str | None) -> list[Operation]:
    """`read,write` → the operations."""
    words = [word.strip().upper() for word in (given or "").split(",") if word.strip()]
    for word in words:
        if word not in _OPERATIONS:
            raise click.BadParameter(f"'{word}' is none of {', '.join(_OPERATIONS)}.", context, option)
    return [Operation[word] for word in words]


def _on_resource(command: Callable[..., Any]) -> Any:
    """`--table`, `--database` or `--cluster`."""
    table = click.option("--table", type=TableName(), help="A table, db.table, or * for every table.")
    database = click.option(
        "--database", type=DatabaseName(), help="A database with its tables, or * for the databases themselves."
    )
    cluster = click.option("--cluster", is_flag=True, help="The cluster, and all that is in it.")
    return table(database(cluster(command)))


def _resource(table: str | None, database: str | None, cluster: bool) -> Resource | None:
    named = [one for one in (table, database, cluster or None) if one is not None]
    if len(named) > 1:
        raise click.UsageError("Name one: --table, --database or --cluster.")
    if cluster:
        return CLUSTER
    if database is not None:
        return Resource.database(database)
    if table is None:
        return None
    return Resource(ResourceType.TABLE, table if table == ANY_NAME or "." in table else f"fluss.{table}")


_host = click.option("--host", help="An address that they must come from; without it, any will do.")


@click.group(cls=Verbs)
def acls() -> None:
    """Grants: who may do what, where the server asks for it (authorizer.enabled).

    Operations are READ, WRITE, CREATE, DROP, ALTER, DESCRIBE and ALL. A grant on a database holds for its tables, one
    on the cluster for everything; whoever may do anything to a thing may know of it (DESCRIBE).
    """


@acls.command("list")
@click.option("--principal", callback=_principal, help="Grants of one principal: NAME, User:NAME, or *.")
@click.option("--operation", callback=_operations, help="Grants of some operations, by commas.")
@_on_resource
@output_option()
@on_server
def list_acls(
    session: Session,
    principal: Principal | None,
    operation: list[Operation],
    table: str | None,
    database: str | None,
    cluster: bool,
    output: str,
) -> None:
    """List the grants that you may know of.

    \b
    Examples:
      lakeward acls list
      lakeward acls list --principal alice
      lakeward acls list --table shop.orders -o json
    """
    resource = _resource(table, database, cluster)
    with session.connect() as connection:
        found = [
            acl for wanted in _filters(principal, operation, resource, None) for acl in connection.acls.find(wanted)
        ]
    show_listing([_row(acl) for acl in found], _COLUMNS, output, "There are no grants that you may know of.")


@acls.command()
@click.argument("principal", callback=_principal)
@click.argument("operations", callback=_operations)
@_on_resource
@_host
@on_server
def grant(
    session: Session,
    principal: Principal,
    operations: list[Operation],
    table: str | None,
    database: str | None,
    cluster: bool,
    host: str | None,
) -> None:
    """Let PRINCIPAL do OPERATIONS (by commas) to something.

    \b
    Examples:
      lakeward acls grant alice read,write --table shop.orders
      lakeward acls grant bob all --database shop
      lakeward acls grant '*' describe --cluster --host 10.0.0.7
    """
    resource = _resource(table, database, cluster)
    if resource is None or not operations:
        raise click.UsageError("Say what is granted, and on what: --table, --database or --cluster.")
    new = [Acl(resource, principal, one, host or ANY_NAME) for one in operations]
    with session.connect() as connection:
        connection.acls.grant(new)
    for acl in new:
        say(f"{acl}.")


@acls.command()
@click.argument("principal", callback=_principal)
@click.argument("operations", required=False, callback=_operations)
@_on_resource
@_host
@click.option("--everything", is_flag=True, help="Whatever they were granted, wherever.")
@on_server
def revoke(
    session: Session,
    principal: Principal,
    operations: list[Operation],
    table: str | None,
    database: str | None,
    cluster: bool,
    host: str | None,
    everything: bool,
) -> None:
    """Take grants back: those for OPERATIONS, or all that PRINCIPAL has on something.

    Only grants on exactly that go: one on the database still holds for its tables.

    \b
    Examples:
      lakeward acls revoke alice write --table shop.orders
      lakeward acls revoke bob --database shop
      lakeward acls revoke carol --everything
    """
    resource = _resource(table, database, cluster)
    if (resource is None) != everything:
        raise click.UsageError("Say where: --table, --database, --cluster, or --everything.")
    with session.connect() as connection:
        gone = connection.acls.revoke(_filters(principal, operations, resource, host))
    if not gone:
        raise Failure("There is no such grant; `lakeward acls list` shows those that there are.")
    say(f"Took back {count(len(gone), 'grant')}: {', '.join(map(str, gone))}.")


def _filters(
    principal: Principal | None, operations: list[Operation], resource: Resource | None, host: str | None
) -> list[AclFilter]:
    kind = ResourceType.ANY if resource is None else resource.type
    name = None if resource is None else resource.name
    return [AclFilter(kind, name, principal, host, operation) for operation in operations or [Operation.ANY]]


def _row(acl: Acl) -> dict[str, str]:
    return {
        "principal": str(acl.principal),
        "operation": acl.operation.name,
        "resource": acl.resource.type.name.lower(),
        "name": acl.resource.name,
        "host": acl.host,
    }
