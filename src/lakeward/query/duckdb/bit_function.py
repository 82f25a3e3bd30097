"""A function of ours in DuckDB: whether a row of a file is still there, by a bit for each row.

DuckDB has a C interface for functions of others, and its Python package exports it. What it lacks is a way from an
instance that Python has opened to one that C can name: both keep instances by their path, each in a list of its own.
We look into Python's list, which is a variable of the library; so this is done with versions that were tried, and
where everything is found as expected. Elsewhere rows are left out by SQL, which takes longer (docs/decisions/0078).

The function is machine code, called for 2,048 rows at a time. It is written for LLVM and not for numba, which takes
half a second and 110 MB to load: this takes a hundredth of either.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakeward.errors import ErrorCode
from lakeward.query.duckdb.duck_session import duck_cursor, instance_path

#: Versions of DuckDB whose list of instances was tried, each of them.
_TRIED = {*(f"1.4.{n}" for n in range(6)), *(f"1.5.{n}" for n in range(7))}
_INSTANCES = "_ZN6duckdb14instance_cacheE"
_NAME = "lakeward_is_there"
_BOOLEAN, _BIGINT, _UBIGINT = 1, 5, 9
_OK = 0

#: What DuckDB offers to functions of others, and the code calls; by address.
_CALLED = (
    "duckdb_data_chunk_get_size",
    "duckdb_data_chunk_get_vector",
    "duckdb_vector_get_data",
    "duckdb_scalar_function_set_error",
)
#: Sets of files that there can be at a time; a power of two.
SETS_MAX = 4096
_UNKNOWN = b"these rows are no longer known\0"

#: A set is its number, the address of its files, and how many they are; a file the address of its bits and its rows.
_CODE = """
define void @are_there(ptr %info, ptr %chunk, ptr %out) {{
start:
  %count = call i64 {duckdb_data_chunk_get_size}(ptr %chunk)
  %v0 = call ptr {duckdb_data_chunk_get_vector}(ptr %chunk, i64 0)
  %v1 = call ptr {duckdb_data_chunk_get_vector}(ptr %chunk, i64 1)
  %v2 = call ptr {duckdb_data_chunk_get_vector}(ptr %chunk, i64 2)
  %sets = call ptr {duckdb_vector_get_data}(ptr %v0)
  %files = call ptr {duckdb_vector_get_data}(ptr %v1)
  %rows = call ptr {duckdb_vector_get_data}(ptr %v2)
  %to = call ptr {duckdb_vector_get_data}(ptr %out)
  br label %next

next:
  %i = phi i64 [0, %start], [%i.1, %look]
  %set.0 = phi i64 [-1, %start], [%set, %look]
  %file.0 = phi i64 [-1, %start], [%file, %look]
  %bits.0 = phi ptr [null, %start], [%bits, %look]
  %limit.0 = phi i64 [0, %start], [%limit, %look]
  %is.left = icmp ult i64 %i, %count
  br i1 %is.left, label %row, label %end

row:
  %set.at = getelementptr i64, ptr %sets, i64 %i
  %set = load i64, ptr %set.at
  %file.at = getelementptr i64, ptr %files, i64 %i
  %file = load i64, ptr %file.at
  %other.set = icmp ne i64 %set, %set.0
  %other.file = icmp ne i64 %file, %file.0
  %is.other = or i1 %other.set, %other.file
  br i1 %is.other, label %find.set, label %look

find.set:
  %slot = and i64 %set, {mask}
  %entry = getelementptr {{i64, ptr, i64}}, ptr {table}, i64 %slot
  %number = load i64, ptr %entry
  %known = getelementptr {{i64, ptr, i64}}, ptr %entry, i64 0, i32 1
  %known.files = load ptr, ptr %known
  %known.count = getelementptr {{i64, ptr, i64}}, ptr %entry, i64 0, i32 2
  %count.files = load i64, ptr %known.count
  %is.set = icmp eq i64 %number, %set
  %is.file = icmp ult i64 %file, %count.files
  %is.known = and i1 %is.set, %is.file
  br i1 %is.known, label %find.file, label %fail

find.file:
  %place = getelementptr {{ptr, i64}}, ptr %known.files, i64 %file
  %found.bits = load ptr, ptr %place
  %limit.at = getelementptr {{ptr, i64}}, ptr %place, i64 0, i32 1
  %found.limit = load i64, ptr %limit.at
  br label %look

look:
  %bits = phi ptr [%bits.0, %row], [%found.bits, %find.file]
  %limit = phi i64 [%limit.0, %row], [%found.limit, %find.file]
  %row.at = getelementptr i64, ptr %rows, i64 %i
  %number.row = load i64, ptr %row.at
  %is.within = icmp ult i64 %number.row, %limit
  %safe = select i1 %is.within, i64 %number.row, i64 0
  %byte.n = lshr i64 %safe, 3
  %byte.at = getelementptr i8, ptr %bits, i64 %byte.n
  %byte = load i8, ptr %byte.at
  %bit.n = trunc i64 %safe to i8
  %bit.low = and i8 %bit.n, 7
  %shifted = lshr i8 %byte, %bit.low
  %bit = and i8 %shifted, 1
  %within = zext i1 %is.within to i8
  %is.gone = and i8 %bit, %within
  %is.there = xor i8 %is.gone, 1
  %to.at = getelementptr i8, ptr %to, i64 %i
  store i8 %is.there, ptr %to.at
  %i.1 = add i64 %i, 1
  br label %next

fail:
  call void {duckdb_scalar_function_set_error}(ptr %info, ptr {unknown})
  br label %end

end:
  ret void
}}
"""

_lock = Lock()
_functions: dict[int, BitFunction | None] = {}
#: What DuckDB may call is there until the process ends.
_codes: list[BitCode] = []


class _UnavailableError(Exception):
    """DuckDB is not as it was expected to be."""


class BitFunction:
    """The function, and the sets of files that it knows."""

    def __init__(self, code: BitCode) -> None:
        self._code = code
        self._lock = Lock()
        self._free = list(range(SETS_MAX))
        self._numbers = count(1)

    def open(self, files: NDArray[np.int64]) -> int:
        """A number for a set of files: an array of addresses of bits and numbers of rows.

        Whoever holds the number holds the array and the bits.
        """
        with self._lock:
            if not self._free:
                raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"There are {SETS_MAX:,} scans at once: ask again.")
            slot = self._free.pop()
            number = next(self._numbers) * SETS_MAX + slot
            self._code.table[3 * slot : 3 * slot + 3] = [number, files.ctypes.data, len(files)]
            return number

    def close(self, number: int) -> None:
        """The set is not asked for any more."""
        slot = number % SETS_MAX
        with self._lock:
            self._code.table[3 * slot : 3 * slot + 3] = [0, 0, 0]
            self._free.append(slot)

    def condition(self, number: int, file: str, row: str) -> str:
        """What is true of the rows that are still there."""
        return f"{_NAME}({number}, {file}, {row})"


def bit_function() -> BitFunction | None:
    """The function in this process's DuckDB; None where it cannot be."""
    with _lock:
        if os.getpid() not in _functions:
            _functions[os.getpid()] = _make()
        return _functions[os.getpid()]


def _make() -> BitFunction | None:
    import duckdb

    if duckdb.__version__ not in _TRIED:
        return None
    # The library without what we expect; LLVM without pointers that have no type (before 15), or not at all.
    with suppress(
        _UnavailableError, AttributeError, ValueError, ImportError, KeyError, OSError, RuntimeError, duckdb.Error
    ):
        return _register()
    return None


def _register() -> BitFunction:
    library = ctypes.CDLL(sys.modules["_duckdb"].__file__)
    code = BitCode({name: _address(getattr(library, name)) for name in _CALLED})
    _codes.append(code)
    with duck_cursor() as duck:
        (agent,) = duck.execute("PRAGMA user_agent").fetchone()
    connected = _Connected(library, instance_path(), agent.partition(" ")[2])
    try:
        connected.add(_NAME, code.address)
    finally:
        connected.close()
    made = BitFunction(code)
    if not _answers(made):
        raise _UnavailableError("it is in another instance")
    return made


def _answers(function: BitFunction) -> bool:
    bits = (ctypes.c_uint8 * 1)(0b10100000)
    files = np.array([[ctypes.addressof(bits), 8]], np.int64)
    number = function.open(files)
    try:
        with duck_cursor() as duck:
            asked = function.condition(number, "0", "range")
            rows = duck.execute(f"SELECT range FROM range(9) WHERE {asked}").fetchall()
            return [row[0] for row in rows] == [0, 1, 2, 3, 4, 6, 8]
    finally:
        function.close(number)


class _Connected:
    """A connection by the C interface to an instance that Python has opened."""

    def __init__(self, library: Any, path: str, client: str) -> None:
        self._library = library
        # What C calls a list of instances is a pointer to one.
        instances = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, _INSTANCES)))
        self._database, self._connection, settings = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._call("duckdb_create_config", ctypes.byref(settings))
        try:
            # An instance is only given to who wants it with the same settings; Python says that it is Python.
            self._call("duckdb_set_config", settings, b"duckdb_api", client.encode())
            found = (ctypes.byref(instances), path.encode(), ctypes.byref(self._database), settings, None)
            self._call("duckdb_get_or_create_from_cache", *found)
        finally:
            library.duckdb_destroy_config(ctypes.byref(settings))
        self._call("duckdb_connect", self._database, ctypes.byref(self._connection))

    def add(self, name: str, address: int) -> None:
        """Register a function of three numbers."""
        function = self._pointer("duckdb_create_scalar_function")
        try:
            self._library.duckdb_scalar_function_set_name(function, name.encode())
            for kind in (_BIGINT, _UBIGINT, _BIGINT):
                self._with_type("duckdb_scalar_function_add_parameter", function, kind)
            self._with_type("duckdb_scalar_function_set_return_type", function, _BOOLEAN)
            self._library.duckdb_scalar_function_set_function(function, ctypes.c_void_p(address))
            self._call("duckdb_register_scalar_function", self._connection, function)
        finally:
            self._library.duckdb_destroy_scalar_function(ctypes.byref(function))

    def close(self) -> None:
        """Let go; the function stays."""
        self._library.duckdb_disconnect(ctypes.byref(self._connection))
        self._library.duckdb_close(ctypes.byref(self._database))

    def _with_type(self, name: str, function: ctypes.c_void_p, kind: int) -> None:
        made = self._pointer("duckdb_create_logical_type", kind)
        getattr(self._library, name)(function, made)
        self._library.duckdb_destroy_logical_type(ctypes.byref(made))

    def _pointer(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        function = getattr(self._library, name)
        function.restype = ctypes.c_void_p
        return ctypes.c_void_p(function(*arguments))

    def _call(self, name: str, *arguments: Any) -> None:
        if getattr(self._library, name)(*arguments) != _OK:
            raise _UnavailableError(name)


def _address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


# -- machine code ------------------------------------------------------------------------------------------------------


class BitCode:
    """The machine code, and what it needs while it may be called; `functions` are addresses of what it calls."""

    def __init__(self, functions: Mapping[str, int]) -> None:
        from llvmlite import binding

        #: The sets of files that there are: three numbers each.
        self.table = (ctypes.c_int64 * (3 * SETS_MAX))()
        self._unknown = ctypes.create_string_buffer(_UNKNOWN)
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        text = _CODE.format(
            **{name: _pointer(functions[name]) for name in _CALLED},
            mask=SETS_MAX - 1,
            table=_pointer(ctypes.addressof(self.table)),
            unknown=_pointer(ctypes.addressof(self._unknown)),
        )
        module: Any = binding.parse_assembly(text)
        module.verify()
        machine = binding.Target.from_default_triple().create_target_machine(opt=2)
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address("are_there")


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"
