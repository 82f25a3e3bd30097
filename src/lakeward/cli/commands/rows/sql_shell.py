"""What `lakeward sql` understands beside SELECT, and the shell that it is without a question."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from lakeward.cli.input.failures import Failure, hint, sentence
from lakeward.cli.output.listing import say, show_listing
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_PROMPT, _MORE = "lakeward> ", "     ...> "
_SHOW = re.compile(r"show\s+(tables|databases|schemas)(?:\s+(?:from|in)\s+(\S+))?", re.IGNORECASE)
_DESCRIBE = re.compile(r"desc(?:ribe)?\s+(?:table\s+)?([^\s(]+)", re.IGNORECASE)
_WRITES = re.compile(
    r"(insert|upsert|update|delete|merge|truncate|create|drop|alter|copy|attach|install|load|call|grant)\b",
    re.IGNORECASE,
)
_WELCOME = "Tables are read here, lake and log as one: SELECT …;  SHOW TABLES;  DESCRIBE db.table;  help, exit."
_HELP = (
    "A statement ends with a semicolon and may go over lines; Ctrl-C forgets it.\n"
    "  SELECT item, count(*) FROM db.table GROUP BY 1;   any query that DuckDB understands\n"
    '  SELECT * FROM db."table$lake";                    the cold part alone\n'
    "  SHOW DATABASES;  SHOW TABLES [FROM db];  DESCRIBE db.table;\n"
    "  exit, quit or Ctrl-D ends."
)

Ask = Callable[[str], None]


def run_statement(connection: Connection, statement: str, ask: Ask, output: str) -> None:
    """Answer one statement; `ask` is for those that DuckDB understands."""
    if found := _SHOW.fullmatch(statement):
        _show(connection, found[1].lower(), found[2], output)
    elif found := _DESCRIBE.fullmatch(statement):
        from lakeward.cli.output.table_description import describe

        describe(connection.table(found[1].replace('"', "").replace("`", "")), output)
    elif found := _WRITES.match(statement):
        raise Failure(
            f"{found[1].upper()}: only reads are done here. Rows go in by `lakeward append` and `lakeward upsert` and "
            "out by `lakeward delete`; `lakeward tables` creates, alters and drops; Spark SQL does all of it."
        )
    else:
        ask(statement)


def run_shell(connection: Connection, ask: Ask, output: str) -> None:
    """Answer statements until there are no more; at a terminal a mistake is reported and the next one asked for."""
    is_asked = sys.stdin.isatty()
    if is_asked:
        import readline  # noqa: F401 - for the sake of input()

        say(_WELCOME)
    for statement in _statements(is_asked):
        try:
            run_statement(connection, statement, ask, output)
        except KeyboardInterrupt:
            say("\nStopped.")
        except (LakewardError, click.ClickException) as wrong:
            if not is_asked:
                raise
            told = wrong.message if isinstance(wrong, click.ClickException) else sentence(wrong)
            say(f"Error: {told}{hint(click.get_current_context(), wrong)}")


def _statements(is_asked: bool) -> Iterator[str]:
    """What stands before each semicolon; the last one may do without."""
    kept = ""
    while True:
        try:
            line = input((_MORE if kept else _PROMPT) if is_asked else "")
        except EOFError:
            if is_asked:
                say("")
            break
        except KeyboardInterrupt:
            say("")
            kept = ""
            continue
        word = "" if kept else line.strip().rstrip("; ").lower()
        if word in {"exit", "quit", r"\q"}:
            return
        if is_asked and word in {"help", r"\?", r"\h", "?"}:
            say(_HELP)
            continue
        kept += line + "\n"
        *whole, kept = _split(kept)
        yield from (one for one in whole if one)
        kept = kept if kept.strip() else ""
    if kept.strip():
        yield kept.strip()


def _split(text: str) -> list[str]:
    """Statements, cut at semicolons that are in no quotes; what follows the last one stays as it is."""
    parts, begin, quote = [], 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == ";":
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:]]


def _show(connection: Connection, what: str, database: str | None, output: str) -> None:
    databases = connection.databases()
    if what != "tables":
        show_listing([{"database": name} for name in databases], ["database"], output, "There are no databases.")
        return
    chosen = databases if database is None else [database]
    rows = [{"table": f"{name}.{table}"} for name in chosen for table in connection.tables(name)]
    show_listing(rows, ["table"], output, "There are no tables.")
