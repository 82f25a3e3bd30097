"""What pyiceberg says of tables of others, in few words: what is missing, what is there already, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

import pydantic
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)


class Trouble(Enum):
    """Kinds of trouble."""

    NO_NAMESPACE = "no such namespace"
    NO_TABLE = "no such table"
    EXISTS = "it exists"
    NOT_EMPTY = "the namespace is not empty"
    OUTDATED = "somebody else was faster"
    WRONG = "the request is wrong"
    NOT_DONE = "not done here"


_KINDS: tuple[tuple[type[Exception], Trouble], ...] = (
    (NoSuchNamespaceError, Trouble.NO_NAMESPACE),
    (NoSuchTableError, Trouble.NO_TABLE),
    (TableAlreadyExistsError, Trouble.EXISTS),
    (NamespaceAlreadyExistsError, Trouble.EXISTS),
    (NamespaceNotEmptyError, Trouble.NOT_EMPTY),
    (CommitFailedException, Trouble.OUTDATED),
    (NotImplementedError, Trouble.NOT_DONE),
    (ValidationError, Trouble.WRONG),
    (ValueError, Trouble.WRONG),
)


class OtherError(Exception):
    """A request about tables of others that cannot be done."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message


@contextmanager
def told_plainly() -> Iterator[None]:
    """What pyiceberg raises is raised as OtherError."""
    try:
        yield
    except pydantic.ValidationError as wrong:
        first = wrong.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise OtherError(Trouble.WRONG, f"Not understood: {where}: {first['msg']}") from wrong
    except tuple(kind for kind, _ in _KINDS) as wrong:
        trouble = next(trouble for kind, trouble in _KINDS if isinstance(wrong, kind))
        raise OtherError(trouble, str(wrong) or trouble.value) from wrong


@contextmanager
def read_plainly() -> Iterator[None]:
    """A request is read by pyiceberg, which takes for granted in places what JSON may have otherwise."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as wrong:
        raise OtherError(Trouble.WRONG, f"Not understood: {wrong}") from wrong
