"""A process in which pyarrow does without pandas; each in an interpreter of its own, since it lasts."""

from __future__ import annotations

import subprocess
import sys


def _said(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_arrays_of_python_values_do_not_load_it() -> None:
    """What pyarrow makes of lists and of numpy's arrays is the same, and pandas is not loaded for it."""
    program = """
import sys
from lakeward.runtime.process.no_pandas import leave_out_pandas
leave_out_pandas()
import numpy as np
import pyarrow as pa
made = [pa.array(["a", None]).to_pylist(), pa.array(np.arange(2)).to_pylist(), pa.table({"a": [1]}).num_rows]
print(made, "pandas" in sys.modules)
"""
    assert _said(program) == "[['a', None], [0, 1], 1] False"


def test_who_wants_pandas_has_it() -> None:
    """An import finds it as ever; where it is loaded already nothing changes."""
    program = """
from lakeward.runtime.process.no_pandas import leave_out_pandas
leave_out_pandas()
import pandas
leave_out_pandas()
print(pandas.DataFrame({"a": [1, 2]})["a"].sum())
"""
    assert _said(program) == "3"
    loaded = """
import pandas
from lakeward.runtime.process.no_pandas import leave_out_pandas
leave_out_pandas()
import pyarrow as pa
print(pa.table({"a": [1]}).to_pandas()["a"].sum())
"""
    assert _said(loaded) == "1"
