"""A script → its statements, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeward.language.grammar.creation.create import create, replace
from lakeward.language.grammar.kinds.alter import alter
from lakeward.language.grammar.kinds.describe import describe
from lakeward.language.grammar.kinds.drop import drop
from lakeward.language.grammar.kinds.explain import explain
from lakeward.language.grammar.kinds.insert import insert
from lakeward.language.grammar.kinds.row_change import row_change
from lakeward.language.grammar.kinds.select import select
from lakeward.language.grammar.kinds.settings import reset, set_option, stop_job
from lakeward.language.grammar.kinds.show import show
from lakeward.language.grammar.kinds.statement_set import begin, execute
from lakeward.language.grammar.kinds.use import use
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.grammar.text.split import Piece, split_script
from lakeward.language.statements.statement import Statement

_KINDS: dict[str, Callable[[Reader], Statement]] = {
    "ALTER": alter,
    "BEGIN": begin,
    "CREATE": create,
    "DELETE": row_change,
    "DESC": describe,
    "DESCRIBE": describe,
    "DROP": drop,
    "EXECUTE": execute,
    "EXPLAIN": lambda reader: explain(reader, parse_statement),
    "FROM": select,
    "INSERT": insert,
    "MERGE": row_change,
    "REPLACE": replace,
    "RESET": reset,
    "SELECT": select,
    "SET": set_option,
    "SHOW": show,
    "STOP": stop_job,
    "TABLE": select,
    "TRUNCATE": row_change,
    "UPDATE": row_change,
    "USE": use,
    "VALUES": select,
    "WITH": select,
    "(": select,
}
#: Words that begin a statement of Spark's that is none of the above.
_OF_SPARK: tuple[str, ...] = (
    "ADD",
    "ANALYZE",
    "CACHE",
    "CALL",
    "CLEAR",
    "COMMENT",
    "DECLARE",
    "DFS",
    "EXPORT",
    "FETCH",
    "GRANT",
    "IMPORT",
)
_OF_SPARK += (
    "LIST",
    "LOAD",
    "LOCK",
    "MAP",
    "MSCK",
    "OPEN",
    "REDUCE",
    "REFRESH",
    "REPAIR",
    "REVOKE",
    "UNCACHE",
)
_OF_SPARK += ("UNLOCK", "UNSET")


def parse_script(text: str) -> tuple[Statement, ...]:
    """All statements of a script; the first that is wrong raises ScriptError."""
    return tuple(read_script(text))


def read_script(text: str) -> Iterator[Statement]:
    """The statements of a script one after the other; one that is wrong raises after those in front of it."""
    return map(parse_statement, split_script(text))


def parse_statement(piece: Piece) -> Statement:
    """One statement."""
    reader = Reader(piece)
    kind = spark_statement if reader.key in _OF_SPARK else _KINDS.get(reader.key)
    if kind is None:
        near = reader.near([*_KINDS, *_OF_SPARK])
        reader.refuse(f"expected a statement such as CREATE, INSERT or SELECT, found {reader.next_label}.{near}")
    return kind(reader)
