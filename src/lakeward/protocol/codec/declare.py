"""How messages are declared: field number, width and meaning on one line.

    @message
    class GetTableSchemaRequest:
        table_path: PbTablePath = f(1)
        schema_id: i32 | None = f(2, default=None)

The codec reads these declarations once per class (see shapes.py).
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar, dataclass_transform

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
    """A frozen message whose fields are declared with f()."""
    return dataclass(frozen=True, slots=True, kw_only=True)(cls)
