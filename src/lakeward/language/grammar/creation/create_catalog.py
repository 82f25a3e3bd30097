"""CREATE CATALOG."""

from __future__ import annotations

from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.statements.define import CreateCatalog
from lakeward.language.statements.statement import Statement


def create_catalog(reader: Reader) -> Statement:
    """What follows CREATE CATALOG."""
    if_not_exists = reader.exists("IF NOT EXISTS")
    name = reader.name("the catalog's name")
    if reader.take("COMMENT"):
        reader.string("the comment in single quotes")
    reader.expect("WITH", f" after CREATE CATALOG {name}")
    options = read_options(reader)
    reader.end()
    return CreateCatalog(**reader.head, name=name, options=options, if_not_exists=if_not_exists)
