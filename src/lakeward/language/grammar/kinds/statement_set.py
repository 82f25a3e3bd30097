"""EXECUTE STATEMENT SET BEGIN … END, BEGIN STATEMENT SET; … END, and EXECUTE INSERT."""

from __future__ import annotations

from lakeward.language.grammar.kinds.insert import insert, read_insert
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.grammar.text.split import split_block
from lakeward.language.statements.rows import StatementSet
from lakeward.language.statements.statement import Statement


def execute(reader: Reader) -> Statement:
    """EXECUTE STATEMENT SET, EXECUTE INSERT, or Spark's EXECUTE IMMEDIATE."""
    reader.expect("EXECUTE")
    if reader.comes("IMMEDIATE"):
        return spark_statement(reader)
    if reader.comes("INSERT"):
        return insert(Reader(reader.rest()))
    if not reader.comes("STATEMENT"):
        reader.take_any(("STATEMENT", "INSERT"), " after EXECUTE")
    return read_set(reader)


def begin(reader: Reader) -> Statement:
    """BEGIN STATEMENT SET; … END, or a block of Spark's."""
    if not reader.comes("BEGIN STATEMENT SET"):
        return spark_statement(reader)
    reader.at += 1
    return read_set(reader)


def read_set(reader: Reader) -> Statement:
    """STATEMENT SET BEGIN insert; … END."""
    reader.expect("STATEMENT SET")
    if reader.piece.tokens[0].key != "BEGIN":
        reader.expect("BEGIN", " after STATEMENT SET")
    last = len(reader.piece.tokens) - 1
    if reader.piece.tokens[last].key != "END":
        reader.at = last
        reader.refuse(f"expected END of the statement set, found {reader.next_label}.")
    inserts = tuple(read_insert(Reader(piece)) for piece in split_block(reader.piece, reader.at, last))
    if not inserts:
        reader.at = last
        reader.refuse("expected INSERT INTO in the statement set, found 'END'.")
    return StatementSet(**reader.head, inserts=inserts)
