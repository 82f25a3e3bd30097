"""Loads, stores and copies by address, for compiled code. Loads numba.

The value log is a set of chunks that never move; compiled code follows a position to an address and reads there.
Numba has arrays but no addresses, so these few operations are given to it as instructions of the machine.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

cgutils: Any = _cgutils  # numba has types here and there only
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def _load(width: int, result: Any, *, swapped: bool = False) -> Any:
    def emit(_context: Any, _address: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            kind = ir.IntType(width)
            value = builder.load(builder.inttoptr(arguments[0], kind.as_pointer()))
            value.align = 1
            if swapped:
                value = builder.bswap(value)
            return builder.zext(value, _I64) if width < 64 else value

        return result(types.int64), code

    return intrinsic(emit)


def _store(width: int) -> Any:
    def emit(_context: Any, _address: Any, _value: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            kind = ir.IntType(width)
            value = builder.trunc(arguments[1], kind) if width < 64 else arguments[1]
            builder.store(value, builder.inttoptr(arguments[0], kind.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), code

    return intrinsic(emit)


def _copy(_context: Any, _to: Any, _source: Any, _size: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        to, source, size = arguments
        pointer = _I8.as_pointer()
        cgutils.raw_memcpy(builder, builder.inttoptr(to, pointer), builder.inttoptr(source, pointer), size, 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _prefetch(_context: Any, _address: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _I8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        numbers = [ir.Constant(_I32, n) for n in (0, 3, 1)]  # read, keep, data
        builder.call(function, [builder.inttoptr(arguments[0], pointer), *numbers])
        return context.get_dummy_value()

    return types.void(types.int64), code


load_u8 = _load(8, types.int64)
load_u16 = _load(16, types.int64)
load_u32 = _load(32, types.int64)
load_u64 = _load(64, types.uint64)
#: Eight bytes as a number that orders as the bytes do.
load_u64_big = _load(64, types.uint64, swapped=True)
store_u16 = _store(16)
store_u32 = _store(32)
store_u64 = _store(64)
#: To, source, size: the two do not overlap.
copy_bytes: Any = intrinsic(_copy)
#: Ask for a cache line that will be needed soon; an address that is nobody's does no harm.
prefetch: Any = intrinsic(_prefetch)
