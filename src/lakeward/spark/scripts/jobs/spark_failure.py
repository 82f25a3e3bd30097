"""What Spark throws → one sentence: ours where there is one, else the innermost reason without Spark's wrapping."""

from __future__ import annotations

import re

from lakeward.errors import LakewardError

#: What our code raised in a Python process, by the last line of its traceback, or by what Spark says in front of it.
_OURS = re.compile(r"(?:^|: )lakeward\.[\w.]+: (.+?)(?:\s+SQLSTATE: \w+)?$", re.MULTILINE)
_BUSY = "Python worker failed to connect back"
_BUSY_IN_OUR_WORDS = "a Python process of Spark did not answer within ten seconds"
_WRAPPING = re.compile(r"^(?:\[STREAM_FAILED\] )?Query \[id = [^]]*\] terminated with exception: ")
_BEHIND = re.compile(
    r"; line \d+ pos \d+;.*|;\n['~]?[A-Z]\w*(?: .*)?\n.*|\n=== Streaming Query ===.*|\n== (?:SQL|DataFrame) .*"
    r"|\n\s+at [\w.$]+\(.*|\n+JVM stacktrace:.*|\s*SQLSTATE: \w+",
    re.DOTALL,
)
#: A cause in the trace that Java prints.
_CAUSE = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
#: What Spark says in words of its own programs, and what it means.
_IN_OUR_WORDS = (
    (
        re.compile(r"NULL value appeared in non-nullable field:\s*(\w+)"),
        "a row has NULL in column '{0}', which is NOT NULL. Leave such rows out: WHERE {0} IS NOT NULL.",
    ),
    (
        re.compile(
            r"error while reading file (\S+?)\.?\s.*?Malformed records are detected[^:]*: \[([^\n]*?)\]\.", re.DOTALL
        ),
        (
            "the file {0} has a line that does not fit the table's columns: [{1}]. Correct it; 'ignore-parse-errors' "
            "of its format, 'true', makes NULL of what cannot be read."
        ),
    ),
)
#: What captures say, which do not know what their stream is called, and by whom.
_NEW_START = re.compile(r"\b(?:start|begin) (?:it|the stream) anew\b", re.IGNORECASE)
_JAVA_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*: ")
#: Words around a reason that is further inside.
_SAYS_NOTHING = ("Job aborted", "Writing job", "An error occurred while calling", "Exception thrown in awaitResult")
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


def failure_sentence(wrong: BaseException) -> str:
    """What to tell a person."""
    if isinstance(wrong, LakewardError):
        return wrong.message
    text = str(wrong)
    return plain_reason(text, (_CAUSE.findall(text) or [""])[-1])


def is_of_spark(wrong: BaseException) -> bool:
    """Whether Spark, or the way to it, raised an error."""
    return type(wrong).__module__.partition(".")[0] in {"pyspark", "py4j"}


def plain_reason(text: str, innermost: str = "") -> str:
    """The sentence in what Spark says."""
    if ours := _OURS.findall(f"{text}\n{innermost}"):
        return str(ours[-1]).strip()
    if is_of_busy_machine(f"{text}\n{innermost}"):
        return f"{_BUSY_IN_OUR_WORDS}: the machine is busy, or out of memory."
    for pattern, sentence in _IN_OUR_WORDS:
        if found := pattern.search(f"{text}\n{innermost}"):
            return sentence.format(*found.groups())
    told = _strip(text)
    if len(told) <= len("assertion failed") + 1 or any(words in told for words in _SAYS_NOTHING):
        told = _strip(innermost) or told
    return told or "Spark gave no reason."


def is_of_other_query(text: str) -> bool:
    """Whether Spark says that a checkpoint was begun by another query."""
    return _OTHER_QUERY.search(text) is not None


def is_of_damage(text: str) -> bool:
    """Whether Spark says that a checkpoint is not whole."""
    return _DAMAGE.search(text) is not None


def needs_new_start(text: str) -> bool:
    """Whether one of our sentences says that a stream must begin anew, in words that hold for any stream."""
    return _NEW_START.search(text) is not None


def is_of_busy_machine(text: str) -> bool:
    """Whether Spark gave up on a Python process: it waits ten seconds for one, whatever is set.

    In Spark's words, or in ours for them.
    """
    return _BUSY in text or _BUSY_IN_OUR_WORDS in text


def _strip(text: str) -> str:
    return _BEHIND.sub("", _JAVA_CLASS.sub("", _WRAPPING.sub("", text.strip()))).strip()
