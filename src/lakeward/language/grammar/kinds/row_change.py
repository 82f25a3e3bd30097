"""UPDATE, DELETE, MERGE INTO and TRUNCATE."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import or_spark
from lakeward.language.grammar.tree.trees import read_tree
from lakeward.language.statements.rows import RowChange
from lakeward.language.statements.statement import Statement

#: The word that must follow.
_SECOND = {"DELETE": ("FROM",), "MERGE": ("INTO", "WITH"), "TRUNCATE": ("TABLE",)}


def row_change(reader: Reader) -> Statement:
    """The statement as a tree; one that only Spark reads is Spark's."""
    kind = reader.key
    reader.at = 1
    if kind in _SECOND:
        reader.take_any(_SECOND[kind], f" after {kind}")
    reader.at = 0
    return or_spark(reader, lambda reader: RowChange(**reader.head, kind=kind, tree=read_tree(reader)))
