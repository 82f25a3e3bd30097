"""Kernels ready before they are needed."""

from __future__ import annotations

from lakeward.records.batch.warm_up import compile_row_kernels
from lakeward.records.kernels import record_kernels, row_decode_kernels, row_encode_kernels


def test_warming_up_leaves_nothing_to_compile() -> None:
    """Every kernel that Python calls has its one compiled form afterwards."""
    compile_row_kernels()
    for module in (row_decode_kernels, row_encode_kernels, record_kernels):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures") and kernel.__module__ == module.__name__ and not name.startswith("_"):
                assert len(kernel.signatures) == 1, name
