"""QuestionError: what is wrong with a question in SQL, as a sentence, and where in its text."""

from __future__ import annotations

import json
import re

from lakeward.errors import ErrorCode, InvalidError

#: What of DuckDB's messages is for those who set it up, not for those who ask.
_ADVICE = re.compile(r"\n\n(?:Possible solutions|Use \"SET ).*", re.DOTALL)
NO_MEMORY = (
    "The question needs more memory than one question may take here. Ask for less: fewer columns, groups or rows."
)
#: The kind of what took too much memory.
OUT_OF_MEMORY = "Out of Memory"
_DOORS = "SQL here reads tables of the cluster, named db.table, and no files and nothing of the network."


class QuestionError(InvalidError):
    """`position` is the character at which it went wrong, from 0; None where DuckDB does not say. `kind` is its own."""

    def __init__(self, code: ErrorCode, message: str, position: int | None = None, kind: str = "") -> None:
        super().__init__(code, message)
        self.position = position
        self.kind = kind


def question_error(wrong: Exception, sql: str) -> QuestionError:
    """An error of DuckDB with `errors_as_json`, as a sentence."""
    kind, told, at = _parts(str(wrong))
    if isinstance(wrong, MemoryError) or told.startswith(
        "Out of Memory Error"
    ):  # Arrow's, and DuckDB's on its way there
        kind = OUT_OF_MEMORY
    if kind == OUT_OF_MEMORY:
        told = NO_MEMORY
    elif kind == "Permission":
        told, at = _DOORS, None
    else:
        told = _ADVICE.sub("", told).strip()
    return QuestionError(ErrorCode.INVALID_SCAN_REQUEST, told, None if at is None else character_at(sql, at), kind)


def character_at(sql: str, byte: int) -> int:
    """The character of a text that stands at a byte, as DuckDB counts."""
    return len(sql.encode()[:byte].decode(errors="ignore"))


def _parts(text: str) -> tuple[str, str, int | None]:
    """Kind, message and byte of an error; what is no JSON is the message itself."""
    try:
        told = json.loads(text[text.index("{") :])
        at = told.get("position")
        return str(told["exception_type"]), str(told["exception_message"]), None if at is None else int(at)
    except (ValueError, KeyError, TypeError):
        return "", text.partition("\n\nLINE ")[0], None
