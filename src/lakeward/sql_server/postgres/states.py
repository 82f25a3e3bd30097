"""Errors as Postgres tells them: five letters that programs know, a sentence, and a place in the text."""

from __future__ import annotations

from lakeward.errors import DeniedError, ErrorCode, InvalidError, LakewardError, NotFoundError, RetriableError
from lakeward.query.duckdb.question.question_error import NO_MEMORY, QuestionError
from lakeward.query.lake.overtaken import OvertakenError


class StateError(Exception):
    """An error that a session tells in its own words."""

    def __init__(self, state: str, message: str, hint: str = "", routine: str = "") -> None:
        super().__init__(message)
        self.state = state
        self.message = message
        self.hint = hint
        #: Where Postgres would say that it happened; drivers know some cases by it alone.
        self.routine = routine


_BY_CODE = {
    ErrorCode.TABLE_NOT_EXIST: "42P01",
    ErrorCode.DATABASE_NOT_EXIST: "3F000",
    ErrorCode.AUTHENTICATE: "28P01",
    ErrorCode.RETRIABLE_AUTHENTICATE: "28000",
    ErrorCode.AUTHORIZATION: "42501",
    ErrorCode.OPERATION_NOT_ATTEMPTED: "57014",
    ErrorCode.STORAGE_BACKPRESSURE: "53000",
    ErrorCode.REQUEST_TIME_OUT: "57014",
    ErrorCode.NETWORK: "58000",
    ErrorCode.UNSUPPORTED_VERSION: "0A000",
}
#: What DuckDB calls it.
_BY_KIND = {
    "Parser": "42601",
    "Syntax": "42601",
    "Binder": "42703",
    "Catalog": "42883",
    "Conversion": "22P02",
    "Out of Range": "22003",
    "Out of Memory": "53200",
    "Permission": "42501",
    "Invalid Input": "22023",
    "Mismatch Type": "42804",
    "Divide by Zero": "22012",
    "Not implemented": "0A000",
}


#: What of it is another case to Postgres, by how its sentence begins, or what is in it.
_BY_SENTENCE = {
    "Binder": (
        ("No function matches", "42883"),
        ("must appear in the GROUP BY", "42803"),
        ("cannot contain aggregate", "42803"),
        ("Ambiguous reference", "42702"),
        ("Set operations can only apply", "42601"),
    ),
    "Catalog": (("Type with name", "42704"), ("Collation with name", "42704"), ("Table with name", "42P01")),
    "Conversion": (("field value out of range", "22008"), ("out of range", "22003")),
    "Invalid Input": (("More than one row returned by a subquery", "21000"),),
}


def error_fields(wrong: BaseException) -> dict[str, str]:
    """The fields of an error message; of what nobody foresaw, no more than that it happened."""
    fields = {"S": "ERROR", "V": "ERROR", "C": "XX000", "M": "Something went wrong in the server; its log says what."}
    if isinstance(wrong, StateError):
        fields |= {"C": wrong.state, "M": wrong.message} | ({"H": wrong.hint} if wrong.hint else {})
        fields |= {"R": wrong.routine} if wrong.routine else {}
    elif isinstance(wrong, MemoryError):
        fields |= {"C": "53200", "M": NO_MEMORY}
    elif isinstance(wrong, LakewardError):
        fields |= {"C": state_of(wrong), "M": wrong.message}
        if isinstance(wrong, QuestionError) and wrong.position is not None:
            fields["P"] = str(wrong.position + 1)
    return fields


def state_of(wrong: LakewardError) -> str:
    """The five letters of an error."""
    if isinstance(wrong, OvertakenError):
        return "40001"
    if isinstance(wrong, QuestionError):
        if wrong.code in _BY_CODE:
            return _BY_CODE[wrong.code]
        found = (state for text, state in _BY_SENTENCE.get(wrong.kind, ()) if text in wrong.message)
        return next(found, _BY_KIND.get(wrong.kind, "42000"))
    if wrong.code in _BY_CODE:
        return _BY_CODE[wrong.code]
    if isinstance(wrong, RetriableError):
        return "58000"
    if isinstance(wrong, DeniedError):
        return "42501"
    if isinstance(wrong, NotFoundError):
        return "42704"
    return "42601" if isinstance(wrong, InvalidError) else "XX000"
