"""Errors of Python workers without their tracebacks."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")


def test_an_error_that_explains_itself_hides_the_traceback() -> None:
    """Spark prints type and sentence, nothing of where it was raised or why."""
    with pytest.raises(NotFoundError) as ended, one_sentence():
        raise ErrorCode.TABLE_NOT_EXIST.error("Table a.b does not exist.") from ValueError("inner")
    assert ended.value.__cause__ is None
    assert os.environ["SPARK_HIDE_TRACEBACK"] == "1"


def test_a_broken_connection_is_an_error_of_ours() -> None:
    """Whatever the operating system says comes as one type."""
    with pytest.raises(LakewardError, match="refused"), one_sentence():
        raise ConnectionRefusedError("refused by localhost:1")


def test_a_mistake_of_ours_keeps_its_traceback() -> None:
    """Nothing is hidden that one would need to find the mistake."""
    with pytest.raises(KeyError), one_sentence():
        raise KeyError("x")
    assert os.environ["SPARK_HIDE_TRACEBACK"] == ""


def test_items_pass_until_an_error_comes() -> None:
    """Rows that were read before the error are given out."""

    def items() -> Iterator[int]:
        yield 1
        raise ErrorCode.NETWORK.error("gone")

    found = each_in_one_sentence(items())
    assert next(found) == 1
    with pytest.raises(LakewardError, match="gone"):
        next(found)
    assert list(each_in_one_sentence(iter([1, 2]))) == [1, 2]
