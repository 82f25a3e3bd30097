"""SET, RESET and STOP JOB."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import ScriptError
from lakeward.language.statements.rows import StopJob


@pytest.mark.parametrize("written", ["totals-1f2e3d4c", "'totals-1f2e3d4c'", "`totals-1f2e3d4c`"])
def test_a_job_is_stopped_by_the_name_that_is_shown(written: str) -> None:
    """In quotes, or as SHOW JOBS has it."""
    (statement,) = parse_script(f"STOP JOB {written};")
    assert isinstance(statement, StopJob)
    assert statement.name == "totals-1f2e3d4c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("STOP JOB;", "expected the job's name"), ("STOP totals;", "JOB"), ("STOP JOB 'a' 'b';", "'b'")],
)
def test_what_is_no_name_is_told(text: str, expected: str) -> None:
    """With what was expected."""
    with pytest.raises(ScriptError, match=expected):
        parse_script(text)
