"""Errors of Spark as errors of the script: one sentence, at the word that it is about."""

from __future__ import annotations

import re
from difflib import get_close_matches

from lakeward.language.functions import FUNCTIONS
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.statement import Statement
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence

_OUR_VIEW = re.compile(r"`?__lakeward_\d+`?\.?|`?__rows`?\.|(?<=`)\w+#(?=\w)")
_NO_FUNCTION = re.compile(r"Cannot resolve routine `([^ ]+)` on search path")
_CLASS = re.compile(r"^\[[A-Z_.]+\] ")


def spark_error(statement: Statement, wrong: BaseException) -> ScriptError:
    """What Spark says of a statement, where the name it speaks of stands."""
    sentence = _OUR_VIEW.sub("", _CLASS.sub("", failure_sentence(wrong)))
    if unknown := _NO_FUNCTION.search(sentence):
        name = unknown[1].rpartition("`.`")[2]
        near = get_close_matches(name.upper(), FUNCTIONS, 1)
        hint = f"; did you mean {near[0]}?" if near else "; SHOW FUNCTIONS lists those of scripts."
        sentence = f"there is no function `{name}`{hint}"
    return ScriptError(place_in(statement, sentence, "`"), sentence)


def place_in(statement: Statement, sentence: str, quote: str) -> Place:
    """Where the first word stands that a sentence has in quotes; a text of the statement keeps its quotes."""
    for name in re.findall(f"{quote}([^{quote}]+){quote}", sentence):
        wanted = re.escape(f"'{name}'") if quote == "'" else rf"\b{re.escape(name)}\b"
        found = re.search(wanted, statement.text, re.IGNORECASE)
        if found is not None:
            return statement.place.after(statement.text[: found.start()])
    return statement.place
