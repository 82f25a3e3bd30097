"""Function: a row of the table: how a function is called in a script, what it is on Spark, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from lakeward.language.functions.shape.form import Number, form
from lakeward.language.functions.shape.where import place_of
from lakeward.language.place import ScriptError


class Kind(Enum):
    """What a function makes of rows."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    RANKING = "ranking"
    WINDOW = "window"


@dataclass(frozen=True, slots=True)
class Call:
    """A function as it was called: its arguments are translated already."""

    name: str
    arguments: list[exp.Expression]
    node: exp.Expression

    def refuse(self, sentence: str) -> ScriptError:
        """What to raise where the call cannot be right on Spark."""
        return ScriptError(place_of(self.node), sentence)


Rewrite = Callable[[Call], exp.Expression]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """`forms`: Spark SQL by the list of arguments: `"text, length"` → `"left({text}, {length})"`; `values…` are many.

    `rewrite` is for what depends on a literal; `forms` then say how it is called and what is shown. A `refusal` says
    why there is none, and a way that works. `gives` is for what divides by it or is divided. `written` and `shown` are
    for people, where the name and the forms say too little or too much. `is_same` says that Spark has it: a call with
    other arguments is Spark's.
    """

    name: str
    forms: Mapping[str, str] = field(default_factory=dict)
    differs: str = ""
    kind: Kind = Kind.SCALAR
    rewrite: Rewrite | None = None
    refusal: str = ""
    is_deterministic: bool = True
    shown: str = ""
    written: str = ""
    is_same: bool = False
    gives: Number | None = None
    _by_count: dict[int, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _rest_from: dict[int, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for arguments, text in self.forms.items():
            names = [name.strip() for name in arguments.split(",") if name.strip()]
            for index, name in enumerate(names):
                hole = f"{{{index}…}}" if name.endswith("…") else f"{{{index}}}"
                text = text.replace(f"{{{name}}}", hole)
            if names and names[-1].endswith("…"):
                self._rest_from[len(names) - 1] = text
            else:
                self._by_count[len(names)] = text

    @property
    def calls(self) -> list[str]:
        """How it is called: one line for each list of arguments."""
        return [self.written] if self.written else [f"{self.name}({arguments})" for arguments in self.forms]

    def translate(self, call: Call) -> exp.Expression:
        """The call on Spark."""
        if self.refusal:
            raise call.refuse(f"{self.name} has no counterpart on Spark: {self.refusal}.")
        text = self._text_for(len(call.arguments))
        if text is None and self.is_same:
            return call.node
        if text is None:
            said = f"{self.name} was called with {len(call.arguments)} arguments"
            raise call.refuse(f"{said}; it is {' or '.join(self.calls)}.")
        if self.rewrite is not None:
            return self.rewrite(call)
        return form(text, call.arguments, gives=self.gives)

    def _text_for(self, count: int) -> str | None:
        if count in self._by_count:
            return self._by_count[count]
        return next((text for least, text in self._rest_from.items() if count >= least), None)


def same(
    name: str, *arguments: str, differs: str = "", kind: Kind = Kind.SCALAR, gives: Number | None = None
) -> Function:
    """A row for a function that Spark has under this name and with this meaning."""
    lists = {listed: f"{name.lower()}({_holes(listed)})" for listed in arguments or ("",)}
    return Function(name=name, forms=lists, differs=differs, kind=kind, gives=gives, is_same=True)


def _holes(arguments: str) -> str:
    return ", ".join(f"{{{name.strip()}}}" for name in arguments.split(",") if name.strip())
