"""CREATE DATABASE."""

from __future__ import annotations

from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import CreateDatabase
from lakeward.language.statements.statement import Options, Statement


def create_database(reader: Reader) -> Statement:
    """What follows CREATE DATABASE; with a location or properties it is Spark's."""
    if_not_exists = reader.exists("IF NOT EXISTS")
    name = reader.full_name("the database's name")
    comment: str | None = None
    options: Options = {}
    while reader.token is not None:
        if reader.comes("LOCATION") or reader.comes("WITH DBPROPERTIES") or reader.comes("WITH PROPERTIES"):
            return spark_statement(reader)
        if reader.take_any(("COMMENT", "WITH"), f" after CREATE DATABASE {name}") == "COMMENT":
            comment = reader.string("the comment in single quotes")
        else:
            options = read_options(reader)
    return CreateDatabase(**reader.head, name=name, comment=comment, options=options, if_not_exists=if_not_exists)
