"""What Spark throws → one sentence: ours where there is one, else the innermost reason without Spark's wrapping."""

from __future__ import annotations

import re
from collections.abc import Callable

from lakeward.errors import LakewardError

#: What our code raised in a Python process, by the last line of its traceback, or by what Spark says in front of it.
_OURS = re.compile(r"(?:^|: )lakeward\.[\w.]+: (.+?)(?:\s+SQLSTATE: \w+)?$", re.MULTILINE)
_BUSY = "Python worker failed to connect back"
_WRAPPING = re.compile(r"^(?:\[STREAM_FAILED\] )?Query \[id = [^]]*\] terminated with exception: ")
_BEHIND = re.compile(
    r"; line \d+ pos \d+;.*|\n=== Streaming Query ===.*|\n== SQL .*|\n\s+at [\w.$]+\(.*|\n+JVM stacktrace:.*"
    r"|\s*SQLSTATE: \w+",
    re.DOTALL,
)
_JAVA_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*: ")
#: Spark's words for a checkpoint of another query.
_OTHER_QUERY = re.compile(
    r"sources in the checkpoint offsets and now there are|STATE_STORE_(?:KEY|VALUE)_SCHEMA_NOT_COMPATIBLE"
    r"|STATE_STORE_INVALID_(?:KEY|VALUE)_SCHEMA|STATE_STORE_SCHEMA|STREAMING_STATEFUL_OPERATOR_(?:NOT_MATCH|MISSING)"
    r"|The checkpoint (?:is of another table|holds offsets)|STATE_STORE_COLUMN_FAMILY|TRANSFORM_WITH_STATE_SCHEMA"
    r"|STATEFUL_PROCESSOR_CANNOT|Provided schema doesn't match|STATE_STORE_VALUE_ROW_FORMAT|INVALID_CHECKPOINT",
)
#: Spark's words for a checkpoint that is not whole.
_DAMAGE = re.compile(
    r"Incomplete log file|Failed to read log file|CHECKPOINT_MISSING_METADATA|CANNOT_LOAD_STATE_STORE"
    r"|MISSING_LOG_FILE|FAILED_READ_DELTA_FILE|FAILED_READ_SNAPSHOT|does not exist in the checkpoint|Checksum error"
)


def failure_sentence(wrong: BaseException, innermost: Callable[[], str | None] | None = None) -> str:
    """What to tell a person; `innermost` gives the message of the last cause, where Java knows it."""
    if isinstance(wrong, LakewardError):
        return wrong.message
    return plain_reason(str(wrong), (innermost() if innermost else None) or "")


def is_of_spark(wrong: BaseException) -> bool:
    """Whether Spark, or the way to it, raised an error."""
    return type(wrong).__module__.partition(".")[0] in {"pyspark", "py4j"}


def plain_reason(text: str, innermost: str = "") -> str:
    """The sentence in what Spark says."""
    if ours := _OURS.findall(f"{text}\n{innermost}"):
        return str(ours[-1]).strip()
    if is_of_busy_machine(f"{text}\n{innermost}"):
        return "a Python process of Spark did not answer within ten seconds: the machine is busy, or out of memory."
    told = _strip(text)
    if len(told) <= len("assertion failed") + 1 or "Job aborted" in told or "Writing job" in told:
        told = _strip(innermost) or told
    return told or "Spark gave no reason."


def is_of_other_query(text: str) -> bool:
    """Whether Spark says that a checkpoint was begun by another query."""
    return _OTHER_QUERY.search(text) is not None


def is_of_damage(text: str) -> bool:
    """Whether Spark says that a checkpoint is not whole."""
    return _DAMAGE.search(text) is not None


def is_of_busy_machine(text: str) -> bool:
    """Whether Spark gave up on a Python process: it waits ten seconds for one, whatever is set."""
    return _BUSY in text


def _strip(text: str) -> str:
    return _BEHIND.sub("", _JAVA_CLASS.sub("", _WRAPPING.sub("", text.strip()))).strip()
