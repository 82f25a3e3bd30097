"""SELECT, WITH, VALUES, TABLE and FROM: queries whose rows are shown."""

from __future__ import annotations

from itertools import pairwise

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import or_spark, spark_statement
from lakeward.language.grammar.tree.trees import read_query
from lakeward.language.statements.rows import Select
from lakeward.language.statements.statement import Statement


def select(reader: Reader) -> Statement:
    """A query; one that only Spark reads is Spark's, and so is one that goes on to insert."""
    if reader.key != "SELECT" and any(
        token.key == "INSERT" and following.key == "INTO" for token, following in pairwise(reader.piece.tokens)
    ):
        return spark_statement(reader)
    return or_spark(reader, lambda reader: Select(**reader.head, query=read_query(reader)))
