"""What Spark throws, in one sentence."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode
from lakeward.spark.scripts.jobs.spark_failure import (
    failure_sentence,
    is_of_busy_machine,
    is_of_damage,
    is_of_other_query,
    is_of_spark,
    plain_reason,
)

QUERY = "[STREAM_FAILED] Query [id = 1a-2b, runId = 3c-4d] terminated with exception: "
BEHIND = " SQLSTATE: XXKST\n=== Streaming Query ===\nIdentifier: [id = 1a-2b]\nLogical Plan:\nProject"
PYTHON = (
    "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):\n"
    '  File "/x.py", line 42, in bad\n    raise wrong\n'
    "lakeward.errors.InvalidError: The row does not fit.\n SQLSTATE: 38000"
)


@pytest.mark.parametrize(
    ("text", "innermost", "sentence"),
    [
        (QUERY + PYTHON + BEHIND, "", "The row does not fit."),
        (QUERY + "The server is away." + BEHIND, "", "The server is away."),
        (
            QUERY
            + "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 1) ==\nid/0\n^^^"
            + BEHIND,
            "",
            "[DIVIDE_BY_ZERO] Division by zero.",
        ),
        (
            QUERY + "Writing job aborted" + BEHIND,
            "java.io.IOException: No space left on device",
            "No space left on device",
        ),
        (QUERY + "assertion failed" + BEHIND, "There are [1] sources now", "There are [1] sources now"),
        (
            "No column `nme`. Did you mean `n`?; line 1 pos 13;\n'Project [id#1L, 'nme]",
            "",
            "No column `nme`. Did you mean `n`?",
        ),
        (
            QUERY + "[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when the source performs latestOffset:"
            " lakeward.errors.DeniedError: User 'u' may not replicate." + BEHIND,
            "",
            "User 'u' may not replicate.",
        ),
        (
            QUERY + "Job aborted due to stage failure: Python worker failed to connect back." + BEHIND,
            "",
            "a Python process of Spark did not answer within ten seconds: the machine is busy, or out of memory.",
        ),
        (
            "[NOT_NULL_ASSERT_VIOLATION] NULL value appeared in non-nullable field: \nk1\nIf the schema is inferred …",
            "",
            "a row has NULL in column 'k1', which is NOT NULL. Leave such rows out: WHERE k1 IS NOT NULL.",
        ),
        (
            '[NUMERIC] 99999.9 is no DECIMAL(4, 1).\n== DataFrame ==\n"cast" was called from\n/x.py\n SQLSTATE: 22003',
            "",
            "[NUMERIC] 99999.9 is no DECIMAL(4, 1).",
        ),
        ("", "", "Spark gave no reason."),
    ],
)
def test_the_reason_without_its_wrapping(text: str, innermost: str, sentence: str) -> None:
    """Ours where there is one, else Spark's own first sentence, else the innermost cause."""
    assert plain_reason(text, innermost) == sentence


def test_the_reason_of_a_trace_is_its_last_cause() -> None:
    """What was called from Python, and where it was waited for, tells nobody anything."""
    trace = (
        "An error occurred while calling o567.getResult.\n: org.apache.spark.SparkException: Exception thrown in"
        " awaitResult: \n\tat org.x.Y.z(Y.scala:1)\nCaused by: org.x.Failed: Outer.\n\tat a.B.c(B.java:2)\n"
        "Caused by: java.io.IOException: No space left on device\n\t... 3 more\n"
    )
    assert failure_sentence(RuntimeError(trace)) == "No space left on device"


def test_an_error_of_ours_is_told_as_it_is() -> None:
    """There is nothing to unwrap."""
    assert failure_sentence(ErrorCode.TABLE_NOT_EXIST.error("No such table.")) == "No such table."
    assert not is_of_spark(ValueError())


def test_checkpoints_of_other_queries_and_damaged_ones_are_told_apart() -> None:
    """Each has its own way out."""
    other = "assertion failed: There are [1] sources in the checkpoint offsets and now there are [2] sources requested"
    damage = "Failed to read log file file:/c/offsets/1. Incomplete log file"
    assert [is_of_other_query(text) for text in (other, damage, "disk full")] == [True, False, False]
    assert [is_of_damage(text) for text in (other, damage, "disk full")] == [False, True, False]


def test_a_busy_machine_is_known_by_our_sentence_too() -> None:
    """Pipelines are told the sentence, and decide by it whether to try again."""
    assert is_of_busy_machine(plain_reason("Python worker failed to connect back."))
