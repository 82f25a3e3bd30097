"""Errors of Spark as errors of the script: one sentence, at the word that it is about."""

from __future__ import annotations

import re

from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.statement import Statement
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence

_OUR_VIEW = re.compile(r"`?__lakeward_\d+`?\.?|`?__rows`?\.|(?<=`)\w+#(?=\w)")
_CLASS = re.compile(r"^\[[A-Z_.]+\] ")


def spark_error(statement: Statement, wrong: BaseException) -> ScriptError:
    """What Spark says of a statement, where the name it speaks of stands."""
    sentence = _OUR_VIEW.sub("", _CLASS.sub("", failure_sentence(wrong)))
    return ScriptError(place_in(statement, sentence, "`"), sentence)


def place_in(statement: Statement, sentence: str, quote: str) -> Place:
    """Where the first word stands that a sentence has in quotes; a text of the statement keeps its quotes."""
    for name in re.findall(f"{quote}([^{quote}]+){quote}", sentence):
        wanted = re.escape(f"'{name}'") if quote == "'" else rf"\b{re.escape(name)}\b"
        found = re.search(wanted, statement.text, re.IGNORECASE)
        if found is not None:
            return statement.place.after(statement.text[: found.start()])
    return statement.place
