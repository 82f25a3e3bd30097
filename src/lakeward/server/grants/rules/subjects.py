"""What a request is about: from the decoded request to the things whose rights count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lakeward.model.acl import CLUSTER, Resource, ResourceType
from lakeward.protocol.messages.metadata import PbPhysicalTablePath
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.server.grants.acls.thing import Thing
from lakeward.server.grants.rules.known_things import KnownThings

#: From a request to what it is about. The function's name says it in words.
Subjects = Callable[[Any, KnownThings], Iterable[Thing]]


def words(subjects: Subjects) -> str:
    """What a request is about, in words."""
    return subjects.__name__.replace("_", " ")


def of_path(path: PbTablePath | PbPhysicalTablePath) -> Thing:
    """A table by its name on the wire."""
    return Thing.by_name(Resource.table(path.database_name, path.table_name))


def the_cluster(_request: Any, _known: KnownThings) -> Iterable[Thing]:
    """All there is."""
    return (Thing.by_name(CLUSTER),)


def the_database(request: Any, _known: KnownThings) -> Iterable[Thing]:
    """The database that is named."""
    return (Thing.by_name(Resource.database(request.database_name)),)


def its_database(request: Any, _known: KnownThings) -> Iterable[Thing]:
    """The database of the table that is named."""
    return (Thing.by_name(Resource.database(request.table_path.database_name)),)


def the_table(request: Any, _known: KnownThings) -> Iterable[Thing]:
    """The table that is named."""
    return (of_path(request.table_path),)


def the_tables(request: Any, _known: KnownThings) -> Iterable[Thing]:
    """The tables that are named."""
    return map(of_path, request.table_path)


def the_numbered_table(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The table whose number is given."""
    return (known.table(request.table_id),)


def the_registered_tables(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables whose offsets are to be registered."""
    return (known.table(one.table_id) for one in request.table_offsets)


def the_tables_of_the_producer(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables whose offsets were registered."""
    return known.tables_of_producer(request.producer_id)


def the_tables_to_lease(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables whose snapshots are to be held."""
    return (known.table(one.table_id) for one in request.snapshots_to_lease)


def the_tables_to_release(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables whose snapshots are let go; one that is gone is let go anyway."""
    return known.tables_that_are_there(one.table_id for one in request.buckets_to_release)


def the_tables_of_the_lease(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables whose snapshots are held."""
    return known.tables_of_lease(request.lease_id)


def the_scanned_table(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The table that a cursor is to be opened in; an open one is its connection's own."""
    asked = request.bucket_scan_req
    return () if asked is None else (known.table(asked.table_id),)


def the_tables_to_commit(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables that a round of tiering is about to commit."""
    return known.tables_that_are_there(one.table_id for one in request.bucket_offsets)


def the_committed_tables(request: Any, known: KnownThings) -> Iterable[Thing]:
    """The tables that a round of tiering has committed, by number or, from older services, by name."""
    yield from known.tables_that_are_there(one.table_id for one in request.lake_table_snapshot_metadata)
    yield from known.tables_that_are_there(one.table_id for one in request.tables_req if one.table_id is not None)
    yield from (of_path(one.table_path) for one in request.tables_req if one.table_path is not None)


def the_database_or_the_cluster(request: Any, _known: KnownThings) -> Iterable[Thing]:
    """Where the rights that are to be given out belong: the database of a table, or the thing itself."""
    for one in request.acl:
        if one.resource_type in set(ResourceType):  # whatever else it is will be refused as such
            yield Thing.by_name(Resource(ResourceType(one.resource_type), one.resource_name).owner)
