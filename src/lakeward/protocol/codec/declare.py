"""How messages are declared: field number, width and meaning on one line.

    @message
    class GetTableSchemaRequest:
        table_path: PbTablePath = f(1)
        schema_id: i32 | None = f(2, default=None)

The codec reads these declarations once per class (see shapes.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar, cast, dataclass_transform

T = TypeVar("T")

i32: TypeAlias = Annotated[int, "i32"]
i64: TypeAlias = Annotated[int, "i64"]
f32: TypeAlias = Annotated[float, "f32"]
f64: TypeAlias = Annotated[float, "f64"]
#: Bytes that are decoded as a view into the frame and encoded by gathering (also from several pieces), never copied.
payload: TypeAlias = Annotated[bytes | bytearray | memoryview | list[bytes | bytearray | memoryview], "payload"]


def f(number: int, *, default: Any = MISSING, packed: bool = False) -> Any:
    """A field with its number on the wire. Without a default it is required."""
    return field(default=default, metadata={"number": number, "packed": packed})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(f,))
def message(cls: type[T]) -> type[T]:
    """A frozen message whose fields are declared with f(): what `dataclass(frozen, slots, kw_only)` would make.

    There are two hundred, and all are made when a process begins to talk: dataclass compiles six functions for each,
    here one is compiled and the others are shared.
    """
    cls.__doc__ = cls.__doc__ or f"{cls.__name__}."  # without one, dataclass would compute one
    fields = dataclasses.fields(dataclass(init=False, repr=False, eq=False, kw_only=True)(cls))  # type: ignore[arg-type]
    names = tuple(field.name for field in fields)
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    made: Any = type(cls.__name__, cls.__bases__, {**body, "__slots__": names, **_SHARED})
    made.__qualname__ = cls.__qualname__
    made.__init__ = _init(made, fields)
    return cast("type[T]", made)


def _init(made: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    known: dict[str, Any] = {f"_set_{field.name}": vars(made)[field.name].__set__ for field in fields}
    known |= {f"_default_{field.name}": field.default for field in fields if field.default is not MISSING}
    taken = (f"{x.name}=_default_{x.name}" if x.default is not MISSING else x.name for x in fields)
    star = "*, " if fields else ""
    lines = [f"def __init__(self, {star}{', '.join(taken)}):", *(f" _set_{x.name}(self, {x.name})" for x in fields)]
    exec("\n".join([*lines, " pass"]), known)  # noqa: S102 - names of fields, from our own source
    found: Callable[..., None] = known["__init__"]
    found.__qualname__ = f"{made.__qualname__}.__init__"
    return found


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__slots__])


def _repr(self: Any) -> str:
    told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{self.__class__.__qualname__}({told})"


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _set(self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r} of {self.__class__.__qualname__}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r} of {self.__class__.__qualname__}")


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_SHARED: dict[str, Any] = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _set,
    "__delattr__": _delete,
    "__getstate__": _values,
    "__setstate__": _restore,
}
