"""Prints docs/reference/connectors.md from the rows of connectors and catalogs.

`python -m lakeward.spark.scripts.reference [--check] [PATH]`
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.option import OptionTable
from lakeward.options.reference import default_text
from lakeward.options.spark import SPARK_OPTIONS
from lakeward.options.table import TABLE_OPTIONS
from lakeward.options.tiering import TIERING_OPTIONS
from lakeward.spark.scripts.catalogs.catalogs import CATALOG_TYPES
from lakeward.spark.scripts.connectors.datagen.datagen_options import FIELD_OPTIONS, FIELDS_PREFIX
from lakeward.spark.scripts.connectors.port import ENTRY_POINTS, Connector, Surroundings
from lakeward.spark.scripts.connectors.registry import OURS, Connectors

PAGE = Path("docs/reference/connectors.md")
_HEAD = f"""\
# Connectors and catalogs of scripts

Printed from the rows of `src/lakeward/spark/scripts` by `python -m lakeward.spark.scripts.reference`; do not edit.

`CREATE TABLE … WITH ('connector' = '…', …)` says where a table's rows are; without `connector` it is `fluss`. Options
are written in single quotes; sizes as `10mb`, durations as `7 d` or `3min`. An option that is not listed is refused,
and the message names the nearest one that is. `/*+ OPTIONS('…' = '…') */` behind a table in a query wins over the
table's own.

Another package adds a connector by a class of the shape of `lakeward.spark.scripts.connectors.port.Connector`, under an
entry point of the group `{ENTRY_POINTS}` whose name is the value of `connector`.
"""
_CATALOGS = """
## Catalogs

`CREATE CATALOG name WITH ('type' = '…', …)`. `default_catalog`, of the type `generic_in_memory`, is always there.
"""
#: Rows that have a page of their own.
_ELSEWHERE: dict[str, tuple[OptionTable, ...]] = {
    "the [Spark connector](spark.md)": (SPARK_OPTIONS,),
    "[tables](options.md#tables)": (TABLE_OPTIONS, TIERING_OPTIONS),
    "[clients](options.md#clients)": (CLIENT_OPTIONS,),
}


def page() -> str:
    """The whole page."""
    found = {connector.name: connector for connector in Connectors(Surroundings()).all() if connector.name in OURS}
    parts = [_HEAD, *(part for connector in found.values() for part in _connector(connector)), _CATALOGS]
    for name, rows in CATALOG_TYPES.items():
        parts += [f"\n### {name}\n", *_table(rows)]
    return "".join(parts)


def _connector(connector: Connector) -> Iterator[str]:
    yield f"\n## {connector.name}\n\n{fill(connector.summary, 120, break_long_words=False, break_on_hyphens=False)}\n"
    yield from _table(connector.options)
    if FIELDS_PREFIX in connector.options.open_prefixes:
        yield "\nOf a column X:\n\n| option | type | default | meaning |\n|---|---|---|---|\n"
        for row in FIELD_OPTIONS:
            yield f"| `{FIELDS_PREFIX}X.{row.key}` | {row.kind.name} | {default_text(row)} | {row.doc} |\n"


def _table(rows: OptionTable) -> Iterator[str]:
    elsewhere = {id(row): where for where, tables in _ELSEWHERE.items() for table in tables for row in table}
    own = [row for row in rows if id(row) not in elsewhere and not row.inert]
    if own or rows.open_prefixes:
        yield "\n| option | type | default | meaning |\n|---|---|---|---|\n"
    for row in own:
        yield f"| `{row.key}` | {row.kind.name} | {default_text(row)} | {row.doc} |\n"
    for prefix, doc in rows.open_prefixes.items():
        yield f"| `{prefix}*` | | – | {doc} |\n"
    linked = list(dict.fromkeys(elsewhere[id(row)] for row in rows if id(row) in elsewhere))
    if linked:
        yield f"\nAnd every option of {', '.join(linked[:-1]) + ' and of ' if len(linked) > 1 else ''}{linked[-1]}.\n"
    shared = {alias.name for tables in _ELSEWHERE.values() for table in tables for alias in table.aliases.values()}
    aliases = [alias for alias in rows.aliases.values() if alias.name not in shared]
    if aliases:
        yield "\n| alias | option |\n|---|---|\n"
        yield from (f"| `{alias.name}` | `{alias.key}` |\n" for alias in aliases)
    inert = sorted(row.key for row in rows if row.inert and id(row) not in elsewhere)
    if inert:
        listed = ", ".join(f"`{name}`" for name in inert)
        text = f"Accepted, without effect here: {listed}."
        yield f"\n{fill(text, 120, break_long_words=False, break_on_hyphens=False)}\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with --check say whether it is what would be written."""
    paths = [Path(argument) for argument in arguments if argument != "--check"]
    where = paths[0] if paths else PAGE
    if "--check" not in arguments:
        where.write_text(page(), encoding="utf-8")
        return 0
    if where.is_file() and where.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write(f"{where} is not up to date; run python -m lakeward.spark.scripts.reference\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
