"""Bits as floating-point numbers and back, for compiled code that has numbers where they lie as bits."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()


def _float_of_bits(_typing: Any, _bits: Any) -> Any:
    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fpext(builder.bitcast(builder.trunc(args[0], _I32), _F32), _F64)

    return types.float64(types.int64), code


def _bits_of_float(_typing: Any, _number: Any) -> Any:
    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.sext(builder.bitcast(builder.fptrunc(args[0], _F32), _I32), _I64)

    return types.int64(types.float64), code


def _double_of_bits(_typing: Any, _bits: Any) -> Any:
    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _F64)

    return types.float64(types.int64), code


def _bits_of_double(_typing: Any, _number: Any) -> Any:
    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _I64)

    return types.int64(types.float64), code


float_of_bits: Any = intrinsic(_float_of_bits)
"""The number that the lower 32 bits are."""

bits_of_float: Any = intrinsic(_bits_of_float)
"""The 32 bits of the nearest number that has so few, with their sign above; what is too large is infinite."""

double_of_bits: Any = intrinsic(_double_of_bits)
"""The number that 64 bits are."""

bits_of_double: Any = intrinsic(_bits_of_double)
"""The 64 bits of a number."""
