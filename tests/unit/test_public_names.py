"""The public door: what it shows, and that opening it is cheap."""

from __future__ import annotations

import subprocess
import sys
import types

import lakeward


def test_public_names_are_exactly_the_exports() -> None:
    """Everything in __all__ is there, sorted, and nothing else but submodules is public."""
    assert lakeward.__all__ == sorted(lakeward.__all__)
    assert all(getattr(lakeward, name) is not None for name in lakeward.__all__)
    public = {n for n, v in vars(lakeward).items() if not n.startswith("_") and not isinstance(v, types.ModuleType)}
    assert public - {"annotations"} == set(lakeward.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Lazy loading does not hide misspellings."""
    assert not hasattr(lakeward, "conect")


def test_importing_loads_nothing_heavy() -> None:
    """`import lakeward`, and even the classes of a connection, leave Arrow, pandas, polars and numba alone."""
    code = (
        "import sys, lakeward; lakeward.connect; lakeward.Table; "
        "print(sorted({'pyarrow', 'numba', 'numpy', 'pandas', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
