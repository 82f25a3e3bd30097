"""SET and RESET; STOP JOB."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.rows import Reset, SetOption, StopJob
from lakeward.language.statements.statement import Statement


def set_option(reader: Reader) -> Statement:
    """SET ['key' = 'value'], quotes or none; SET TIME ZONE and the like are Spark's."""
    reader.expect("SET")
    if not reader.key:
        return SetOption(**reader.head)
    if _is_of_spark(reader):
        return spark_statement(reader)
    key = _read_key(reader)
    if not reader.key:
        return SetOption(**reader.head, key=key)
    reader.expect("=", f" after SET {key}")
    if reader.token is None:
        reader.refuse(f"expected the value of '{key}', found the end of the statement.")
    if reader.token.kind == "text":
        value = reader.string()
        reader.end()
        return SetOption(**reader.head, key=key, value=value)
    return SetOption(**reader.head, key=key, value=reader.rest_text)


def reset(reader: Reader) -> Statement:
    """RESET ['key']."""
    reader.expect("RESET")
    if reader.token is None:
        return Reset(**reader.head)
    key = _read_key(reader)
    reader.end()
    return Reset(**reader.head, key=key)


def stop_job(reader: Reader) -> Statement:
    """STOP JOB name, in quotes or as it is shown."""
    reader.expect("STOP")
    reader.expect("JOB", " after STOP")
    token = reader.token
    if token is None:
        reader.refuse("expected the job's name, as SHOW JOBS shows it, found the end of the statement.")
    if token.kind in {"text", "quoted"}:
        reader.at += 1
        name = token.value
    else:
        name = reader.rest_text
        reader.at = len(reader.piece.tokens)
    reader.end()
    return StopJob(**reader.head, name=name)


def _is_of_spark(reader: Reader) -> bool:
    following = reader.piece.tokens[2].key if len(reader.piece.tokens) > 2 else ""
    if reader.key in {"VAR", "VARIABLE", "CATALOG", "ROLE", "TIME"}:
        return following not in {"=", ".", ""}
    return reader.key == "-"


def _read_key(reader: Reader) -> str:
    """A key in quotes, or a plain one such as spark.sql.shuffle.partitions."""
    token = reader.token
    if token is not None and token.kind in {"text", "quoted"}:
        reader.at += 1
        return token.value
    key = ""
    end = -1
    while reader.token is not None and reader.key != "=" and end in {-1, reader.token.start}:
        key += reader.token.text
        end = reader.token.end
        reader.at += 1
    if not key:
        reader.refuse(f"expected a key such as 'execution.runtime-mode', found {reader.next_label}.")
    return key
