"""Which lake a tiering service is for: as it is told, else as the cluster says; a cluster that knows none learns it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from lakeward.cli.input.failures import Failure, sentence
from lakeward.cli.output.listing import say
from lakeward.cli.output.plain_text import lines
from lakeward.errors import LakewardError, UnsupportedError
from lakeward.options.secrets import may_be_told, without_passwords
from lakeward.options.server import DATALAKE_FORMAT

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_FORMAT_DEFAULT = "iceberg"
_SLASHES_MISSING = re.compile(r"(s3[an]?|gs|abfss?|wasbs?|hdfs|oss|file):(?!//)/?")


def settled_lake(conn: Connection, given: Mapping[str, str]) -> str:
    """Where tables go, in words; a service that cannot know is a mistake in its command line."""
    from lakeward.lake.home import place_in

    try:
        options = {o.key: o.value for o in conn.cluster_options() if o.key.startswith("datalake.") and o.value}
    except UnsupportedError:
        return place_in(given) or "the cluster's lake"  # it has no options to ask for; its tables say where
    lake_format = options.get(DATALAKE_FORMAT.key) or _named_format(options) or _FORMAT_DEFAULT
    prefix = f"datalake.{lake_format}."
    known = place_in({key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)})
    place = place_in(given)
    if place is None and known is None:
        raise click.UsageError(
            "Where is the lake? Nobody has told the cluster: say --warehouse DIR (or s3://bucket/folder), or "
            "name a catalog with --lake. The cluster remembers it."
        )
    if place is not None and known is None:
        _try(lake_format, given, place)
        told = {prefix + key: value for key, value in given.items() if may_be_told(key)}
        with suppress(LakewardError):  # Apache's may refuse; its tables remember it
            conn.set_cluster_options(set={**told, f"{prefix}warehouse": place} if "warehouse" in given else told)
            say(f"The cluster knows its lake from now on: {lake_format} at {place}.")
    elif place is not None and known != place:
        say(f"The cluster's lake is at {known}. New tables go to {place}; those of that lake stay there.")
    return place or str(known)


def check_spelling(warehouse: str) -> None:
    """Refuse a place elsewhere that lacks slashes: it would be a directory with an odd name here."""
    found = _SLASHES_MISSING.match(warehouse)
    if found is not None:
        right = f"{found[1]}://{'/' if found[1] == 'file' else ''}{warehouse[found.end() :]}"
        raise click.UsageError(f"The warehouse {warehouse} lacks slashes: write {right}")


def _try(lake_format: str, given: Mapping[str, str], place: str) -> None:
    from lakeward.lake.trial import try_lake

    try:
        try_lake(lake_format, given)
    except Exception as wrong:  # catalogs raise whatever they like
        known = isinstance(wrong, LakewardError | OSError)
        why = sentence(wrong) if known else lines(without_passwords(f"{type(wrong).__name__}: {wrong}"))
        raise Failure(f"The lake cannot be at {place}: {why.rstrip('.')}. The cluster was not told of it.") from wrong


def _named_format(options: Mapping[str, str | None]) -> str | None:
    named = (key.split(".") for key in options)
    return next((words[1] for words in named if words[2:] in (["warehouse"], ["uri"])), None)
