"""Files on the command line → definitions of pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.cli.input.failures import Failure

if TYPE_CHECKING:
    from lakeward.pipelines.definition import PipelineDefinition
    from lakeward.pipelines.text.mistake import Mistake

_NEEDED = ("jsonschema", "sqlglot")


def definitions_of(files: Sequence[str]) -> list[PipelineDefinition]:
    """The pipelines of some files, `-` being what comes in on stdin; every mistake of all of them is told."""
    if any(find_spec(library) is None for library in _NEEDED):
        raise Failure("Pipelines need more than is installed: pip install 'lakeward[spark]'.")
    from lakeward.pipelines.reading import read_pipelines

    return read_pipelines([(file, _read(file)) for file in files], os.environ)


def require_spark() -> None:
    """What runs pipelines comes with an extra."""
    if find_spec("pyspark") is None:
        raise Failure("Pipelines run on Spark, which is not installed: pip install 'lakeward[spark]'.")


def _read(file: str) -> str | Mistake:
    from lakeward.pipelines.text.mistake import Mistake

    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as wrong:
        return Mistake(file, 0, 0, f"{wrong.strerror or wrong}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        before = content[: wrong.start]
        column = len(before) - before.rfind(b"\n")
        return Mistake(file, before.count(b"\n") + 1, column, "this is not UTF-8: the line has a byte that is none.")
