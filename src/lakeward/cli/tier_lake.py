"""Which lake a tiering service is for: as it is told, else as the cluster says; a cluster that knows none learns it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from lakeward.cli.listing import said
from lakeward.errors import LakewardError, UnsupportedError
from lakeward.options.secrets import may_be_told
from lakeward.options.server import DATALAKE_FORMAT

if TYPE_CHECKING:
    from lakeward.client.sync import Connection

_FORMAT_DEFAULT = "iceberg"


def settled_lake(conn: Connection, given: Mapping[str, str]) -> str:
    """Where tables go, in words; a service that cannot know is a mistake in its command line."""
    from lakeward.lake.home import place_named

    try:
        options = {o.key: o.value for o in conn.cluster_options() if o.key.startswith("datalake.") and o.value}
    except UnsupportedError:
        return place_named(given) or "the cluster's lake"  # it has no options to ask for; its tables say where
    lake_format = options.get(DATALAKE_FORMAT.key) or _named_format(options) or _FORMAT_DEFAULT
    prefix = f"datalake.{lake_format}."
    known = place_named({key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)})
    place = place_named(given)
    if place is None and known is None:
        raise click.UsageError(
            "Where is the lake? Nobody has told the cluster: say --warehouse DIR (or s3://bucket/folder), or "
            "name a catalog with --lake. The cluster remembers it."
        )
    if place is not None and known is None:
        told = {prefix + key: value for key, value in given.items() if may_be_told(key)}
        with suppress(LakewardError):  # Apache's may refuse; its tables remember it
            conn.set_cluster_options(set={**told, f"{prefix}warehouse": place} if "warehouse" in given else told)
            said(f"The cluster knows its lake from now on: {lake_format} at {place}.")
    elif place is not None and known != place:
        said(f"The cluster's lake is at {known}. New tables go to {place}; those of that lake stay there.")
    return place or str(known)


def _named_format(options: Mapping[str, str | None]) -> str | None:
    named = (key.split(".") for key in options)
    return next((words[1] for words in named if words[2:] in (["warehouse"], ["uri"])), None)
