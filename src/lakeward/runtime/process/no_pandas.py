"""leave_out_pandas: for processes in which nobody hands out a DataFrame."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)


def leave_out_pandas() -> None:
    """Have pyarrow do without pandas in this process, unless it is loaded already.

    pyarrow loads pandas the first time it makes an array of Python values, only to see whether they are pandas' own:
    half a second of a start, and 40 MB, for nothing. It looks for it once. pyarrow's `to_pandas` fails from then on.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)
