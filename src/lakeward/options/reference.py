"""Prints docs/reference/options.md and spark.md from the rows.

`python -m lakeward.options.reference [--check] [PATH]`; the second page lies beside the first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.option import Option, OptionTable
from lakeward.options.server import DYNAMIC_KEYS, SERVER_OPTIONS
from lakeward.options.spark import SPARK_OPTIONS, SPARK_OWN
from lakeward.options.table import BUCKET_COUNT_ALIAS, TABLE_OPTIONS
from lakeward.options.tiering import TIERING_OPTIONS

PAGE = Path("docs/reference/options.md")
SPARK_PAGE = Path("docs/reference/spark.md")

_HEAD = """\
# Options

Printed from the rows in `src/lakeward/options` by `python -m lakeward.options.reference`; do not edit.

Names are those of Apache Fluss; those marked (Lakeward) are ours. Sizes are written `10mb`, durations `7 d` or `3min`.
A key that is not listed is refused, and the message names the nearest one that is.
"""
_SERVER_HEAD = """
Set in the file given to `lakeward serve --config`, or with `-D key=value`, which wins. An option that may change while
the server runs is changed with ALTER_CLUSTER_CONFIGS.
"""
_TABLE_HEAD = """
Given when a table is created. An option that may change later is set or reset with ALTER_TABLE. Names that do not start
with `table.` and are no alias belong to the custom properties, which may hold anything.
"""
_TIERING_HEAD = """
Custom properties of a table, which Apache Fluss keeps too: our coordinator obeys them, and where the coordinator is
Apache's, our tiering service does.
"""
_CLIENT_HEAD = """
Given to a connection.
"""
_SPARK_HEAD = """\
# Options of the Spark connector

Printed from the rows in `src/lakeward/options/spark.py` by `python -m lakeward.options.reference`; do not edit.

Given with `.option(name, value)`, `OPTIONS (…)` or `WITH (…)`, with the catalog (jar) and without. Case does not
matter, as everywhere in Spark. A name that is not listed is refused, and the message names the nearest one that is.
"""


def page() -> str:
    """The whole page."""
    parts = [
        _HEAD,
        "\n## Server\n",
        _SERVER_HEAD,
        *_rows(SERVER_OPTIONS),
        *_aliases(SERVER_OPTIONS),
        *_accepted_keys(),
        "\n## Tables\n",
        _TABLE_HEAD,
        *_rows(TABLE_OPTIONS),
        *_aliases(TABLE_OPTIONS),
        f"| `{BUCKET_COUNT_ALIAS}` | the number of buckets in the table's descriptor |\n",
        "\n### Tiering\n",
        _TIERING_HEAD,
        *_rows(TIERING_OPTIONS),
        "\n## Clients\n",
        _CLIENT_HEAD,
        *_rows(CLIENT_OPTIONS),
        _inert(CLIENT_OPTIONS),
    ]
    return "".join(parts)


def spark_page() -> str:
    """The page of the Spark connector's options."""
    parts = [_SPARK_HEAD, "\n| option | type | default | meaning |\n|---|---|---|---|\n"]
    parts += [f"| `{row.key}` | {row.kind.name} | {default_text(row)} | {row.doc} |\n" for row in SPARK_OPTIONS]
    parts += [f"| `{prefix}*` | | – | {doc} |\n" for prefix, doc in SPARK_OPTIONS.open_prefixes.items()]
    parts.append("\nNames known from other connectors:\n\n| alias | option |\n|---|---|\n")
    parts += [f"| `{alias.name}` | `{alias.key}` |\n" for alias in SPARK_OPTIONS.aliases.values()]
    parts.append(_names("Spark's own, passed over:", SPARK_OWN))
    return "".join(parts)


def _rows(table: OptionTable) -> Iterator[str]:
    yield "\n| option | type | default | may change later | meaning |\n|---|---|---|---|---|\n"
    for option in table:
        if not option.inert:
            changes = "yes" if option.dynamic or option.key in DYNAMIC_KEYS else ""
            yield f"| `{option.key}` | {option.kind.name} | {default_text(option)} | {changes} | {option.doc} |\n"


def default_text(option: Option[Any]) -> str:
    """A default as a table of options shows it."""
    text = "" if option.default is None else option.show(option.default)
    return f"`{text}`" if text else "–"


def _aliases(table: OptionTable) -> Iterator[str]:
    yield "\nNames of older guides, accepted and shown under their canonical name:\n"
    yield "\n| alias | option |\n|---|---|\n"
    for alias in table.aliases.values():
        yield f"| `{alias.name}` | `{alias.key}` |\n"


def _accepted_keys() -> Iterator[str]:
    yield "\nAccepted with every name under a prefix:\n\n| prefix | meaning |\n|---|---|\n"
    for prefix, doc in SERVER_OPTIONS.open_prefixes.items():
        yield f"| `{prefix}*` | {doc} |\n"
    yield _inert(SERVER_OPTIONS)


def _inert(table: OptionTable) -> str:
    keys = sorted(option.key for option in table if option.inert)
    return _names("Accepted from a configuration of Apache Fluss, without effect here:", keys)


def _names(said: str, names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"\n{fill(f'{said} {listed}.', 120, break_long_words=False, break_on_hyphens=False)}\n"


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with --check say whether they are what would be written."""
    check = "--check" in arguments
    paths = [Path(argument) for argument in arguments if argument != "--check"]
    path = paths[0] if paths else PAGE
    for where, text in ((path, page()), (path.with_name(SPARK_PAGE.name), spark_page())):
        if check and not (where.is_file() and where.read_text(encoding="utf-8") == text):
            sys.stderr.write(f"{where} is not up to date; run python -m lakeward.options.reference\n")
            return 1
        if not check:
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
