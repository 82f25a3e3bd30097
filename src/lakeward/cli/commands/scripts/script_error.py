"""Where in a text it went wrong: the line, and a caret under the column."""

from __future__ import annotations

import re
import traceback

from lakeward.cli.input.failures import sentence
from lakeward.cli.output.listing import say, say_error
from lakeward.language.place import Place, ScriptError
from lakeward.options.secrets import without_passwords, without_secret_options
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence, is_of_spark

_WIDTH = 100
_SET = "EXECUTE STATEMENT SET"
#: What follows the name of what a statement makes or changes.
_DETAILS = re.compile(
    r"\s*\(|\s(?:WITH|AS|SELECT|VALUES|SET|USING|COMMENT|DISTRIBUTED|PARTITION|PARTITIONED|LIKE)\b", re.IGNORECASE
)


def tell_error(wrong: Exception, text: str, begin: Place | None = None, *, is_debug: bool) -> None:
    """Say what went wrong in a text, and where; under --debug with its trace.

    `begin` is where the statement begins: the place of an error that does not know its own.
    """
    if is_debug:
        say("".join(traceback.format_exception(wrong)))
    told = failure_sentence(wrong) if is_of_spark(wrong) else sentence(wrong)
    place = wrong.place if isinstance(wrong, ScriptError) else begin
    say_error(f"Error: {told}" if place is not begin or begin is None else f"Error: {str(begin).capitalize()}: {told}")
    if place is not None and (pointed := pointed_at(text, place)):
        say(pointed)


def pointed_at(text: str, place: Place) -> str:
    """The line of a place with a caret below; a long line is shown in part. Empty where there is no such line."""
    lines = without_secrets(text).split("\n")
    if not 1 <= place.line <= len(lines):
        return ""
    line = lines[place.line - 1].replace("\t", " ").rstrip("\r")
    column = min(place.column, len(line) + 1)
    begin = max(0, column - _WIDTH // 2) if len(line) > _WIDTH else 0
    return f"  {line[begin : begin + _WIDTH]}\n  {' ' * (column - 1 - begin)}^"


def headline(text: str) -> str:
    """A statement in a few words: what it is and what it is about."""
    words = " ".join(_without_comments(without_secrets(text)).split())
    if words.upper().startswith(_SET):
        return _SET
    if words.upper().startswith(("CREATE", "INSERT", "UPDATE", "MERGE")):
        words = _DETAILS.split(words, maxsplit=1)[0]
    return words if len(words) <= _WIDTH else f"{words[: _WIDTH - 1]}…"


def without_secrets(text: str) -> str:
    """A text whose options and URLs hold no secret, each line where it was."""
    return without_passwords(without_secret_options(text))


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("--"))
