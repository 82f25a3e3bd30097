"""Field and Layout: a fixed layout is a table of fields; offsets, sizes and its documentation are computed."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

I8, I16, I32, I64, U32 = "b", "h", "i", "q", "I"
_TYPE_NAMES = {I8: "i8", I16: "i16", I32: "i32", I64: "i64", U32: "u32"}


class Field(NamedTuple):
    """One field of a layout: name, struct code, meaning."""

    name: str
    code: str
    doc: str


@dataclass(frozen=True)
class Layout:
    """Little-endian fields one after the other, without padding."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, *fields: Field) -> Layout:
        """A layout of these fields."""
        return cls(fields)

    @property
    def struct(self) -> struct.Struct:
        """The struct that reads and writes all fields at once."""
        return struct.Struct("<" + "".join(f.code for f in self.fields))

    @property
    def size(self) -> int:
        """Bytes of the whole layout."""
        return self.struct.size

    def offset(self, name: str) -> int:
        """Where a field starts."""
        before: list[str] = []
        for f in self.fields:
            if f.name == name:
                return struct.calcsize("<" + "".join(before))
            before.append(f.code)
        raise KeyError(name)

    def extend(self, field: Field, *, after: str) -> Layout:
        """This layout with one more field."""
        place = [f.name for f in self.fields].index(after) + 1
        return Layout((*self.fields[:place], field, *self.fields[place:]))

    def unpack(self, data: Any, position: int = 0) -> dict[str, int]:
        """All fields by name; for tools and tests, not for hot paths."""
        values = self.struct.unpack_from(data, position)
        return {f.name: value for f, value in zip(self.fields, values, strict=True)}

    def markdown(self) -> str:
        """The byte table for the documentation."""
        rows = [f"| {self.offset(f.name)} | {f.name} | {_TYPE_NAMES[f.code]} | {f.doc} |" for f in self.fields]
        return "\n".join(["| offset | field | type | meaning |", "|---|---|---|---|", *rows])
