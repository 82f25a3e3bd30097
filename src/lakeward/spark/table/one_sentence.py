"""Errors as one sentence: what a Python worker raises reaches the user without the worker's traceback.

Spark prints the traceback of a Python worker unless SPARK_HIDE_TRACEBACK is set in the worker's environment when the
error is handled; it is set here just before, and the worker ends with the error. Only errors that say all there is to
know are shortened; a mistake of ours keeps its traceback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from lakeward.errors import ErrorCode, LakewardError

T = TypeVar("T")
_HIDE = "SPARK_HIDE_TRACEBACK"


@contextmanager
def one_sentence() -> Iterator[None]:
    """Let errors that explain themselves out without the traceback."""
    try:
        yield
    except LakewardError as wrong:
        _end_with(wrong)
    except OSError as wrong:
        _end_with(ErrorCode.NETWORK.error(str(wrong)))


def each_in_one_sentence(items: Iterator[T]) -> Iterator[T]:
    """The items, with errors between them shortened."""
    while True:
        with one_sentence():
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


def _end_with(wrong: LakewardError) -> NoReturn:
    os.environ[_HIDE] = "1"
    raise wrong.with_traceback(None) from None
