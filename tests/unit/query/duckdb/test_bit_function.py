"""The function that looks at bits: what it answers, what it refuses, and where it is not."""

from __future__ import annotations

import os
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from lakeward.errors import LakewardError
from lakeward.query.duckdb import bit_function as function_module
from lakeward.query.duckdb.bit_function import SETS_MAX, BitCode, BitFunction, bit_function
from lakeward.query.duckdb.duck_session import duck_cursor

BITS = np.array([0b10100000], np.uint8)
FILES = np.array([[BITS.ctypes.data, 8]], np.int64)


def function() -> BitFunction:
    """The one of this process."""
    found = bit_function()
    assert found is not None
    return found


def test_a_bit_says_that_a_row_is_gone() -> None:
    """Rows behind the last bit are there."""
    number = function().open(FILES)
    with duck_cursor() as duck:
        asked = function().condition(number, "0", "range")
        assert duck.execute(f"SELECT list(range) FROM range(10000) WHERE NOT {asked}").fetchone() == ([5, 7],)
    function().close(number)


def test_a_set_that_is_forgotten_is_not_answered_for() -> None:
    """Neither is a file that it does not have; nothing is read where it was."""
    number = function().open(FILES)
    with duck_cursor() as duck:
        with pytest.raises(duckdb.InvalidInputException, match="no longer known"):
            duck.execute(f"SELECT {function().condition(number, '1', '0')}")
        function().close(number)
        for wrong in (number, 0, -1, 7):
            with pytest.raises(duckdb.InvalidInputException, match="no longer known"):
                duck.execute(f"SELECT {function().condition(wrong, '0', 'range')} FROM range(3)")


def test_there_are_only_so_many_sets() -> None:
    """The next one is refused, and there is room again when one is forgotten."""
    small = BitFunction(BitCode(dict.fromkeys(function_module._CALLED, 1)))
    numbers = [small.open(FILES) for _ in range(SETS_MAX)]
    assert len(set(numbers)) == SETS_MAX
    with pytest.raises(LakewardError, match="ask again"):
        small.open(FILES)
    small.close(numbers[7])
    assert small.open(FILES) not in numbers


def test_another_duckdb_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that was not tried, a library without what is looked for, an instance that is not found."""
    changes = {"_INSTANCES": "_ZN6duckdb5otherE", "_TRIED": {"0.0.0"}, "instance_path": lambda: ":memory:another"}
    for name, value in changes.items():
        with monkeypatch.context() as patch:
            patch.setattr(function_module, name, value)
            assert function_module._make() is None


def test_a_process_that_was_forked_has_its_own() -> None:
    """DuckDB is opened anew there, and the function with it."""
    code = (
        "import os, sys\n"
        "from lakeward.query.duckdb.bit_function import bit_function\n"
        "assert bit_function() is not None\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if bit_function() is not None else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), timeout=60).returncode == 0
