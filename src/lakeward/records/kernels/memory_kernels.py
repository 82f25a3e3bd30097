"""Numbers at any address, and bytes copied: what kernels need and arrays do not give.

Rows and Arrow bodies begin at any byte, so no array of numbers can be laid over them. And every array that is handed to
a helper function is counted in and out with atomic operations, which would take most of a kernel's time; an address is
only a number. As with all compiled code, callers check bounds: nothing here does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_UNALIGNED = 1


def _pointer(builder: Any, address: Any, bits: int) -> Any:
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


def _getter(bits: int, *, signed: bool = True) -> Any:
    def get(_typing: Any, _at: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            number = builder.load(_pointer(builder, args[0], bits), align=_UNALIGNED, typ=ir.IntType(bits))
            if bits == 64:
                return number
            widen = builder.sext if signed else builder.zext
            return widen(number, ir.IntType(64))

        return types.int64(types.int64), code

    return intrinsic(get)


def _putter(bits: int) -> Any:
    def put(_typing: Any, _at: Any, _value: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            number = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
            builder.store(number, _pointer(builder, args[0], bits), align=_UNALIGNED)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), code

    return intrinsic(put)


def _get_item(_typing: Any, _line: Any, _index: Any) -> Any:
    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = builder.gep(_pointer(builder, args[0], 64), [args[1]], source_etype=ir.IntType(64))
        return builder.load(pointer, typ=ir.IntType(64))

    return types.int64(types.int64, types.int64), code


def _address(_typing: Any, array: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), code


def _copy_bytes(_typing: Any, _to: Any, _of: Any, _count: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        memcpy: Any = cgutils.raw_memcpy
        memcpy(builder, _pointer(builder, args[0], 8), _pointer(builder, args[1], 8), args[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


get_u8 = _getter(8, signed=False)
get_i8 = _getter(8)
get_i16 = _getter(16)
get_i32 = _getter(32)
get_i64 = _getter(64)
put_8 = _putter(8)
put_16 = _putter(16)
put_32 = _putter(32)
put_64 = _putter(64)

get_item: Any = intrinsic(_get_item)
"""get_item(line, i): number i of the 64-bit numbers at an address."""

address: Any = intrinsic(_address)
"""Where the first byte of an array lies. Whoever asks holds on to the array."""

copy_bytes: Any = intrinsic(_copy_bytes)
"""copy_bytes(to, of, count): copy bytes from one address to another; they do not overlap."""
