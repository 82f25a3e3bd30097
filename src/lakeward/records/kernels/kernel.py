"""Loops that are compiled: numba, without the interpreter lock, kept on disk.

Only modules named `*_kernels` import this, since numba costs 110 MB: a server that holds no primary key table and a
client that writes no keys never load it.

The compiled code of a function is kept until *its own file* changes. After changing what kernels of other files use
(`memory_kernels`, `varint_kernels`, the numbers of `row_programs`), remove the `__pycache__` of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel_part(function: _Function) -> _Function:
    """A function that compiled functions call and nothing else does: quicker to compile, and kept with its callers."""
    decorate: Any = njit  # these options are not in its annotations
    return cast("_Function", decorate(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def kernel(function: _Function) -> _Function:
    """The function as machine code, made when it is first called."""
    try:
        return cast("_Function", njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no directory to keep compiled code in: a read-only installation without a home
        return cast("_Function", njit(nogil=True)(function))
