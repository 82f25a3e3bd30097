"""Option: one row per setting. Key, kind, default, a sentence, and whether it may change while the server runs.

An OptionTable is the set of rows of one scope. It knows the names of older guides (Alias) and, for a key it does not
know, the nearest one that it does.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.kinds import BOOL, TEXT, Kind

T = TypeVar("T")
_INERT = "Accepted from a configuration of Apache Fluss, without effect here."
_SHOWN_KEY_LENGTH = 120
_SHOWN_VALUE_LENGTH = 80
#: How much two names must have in common for one to be a misspelling of the other.
_LIKENESS = 0.65


def invalid_value(key: str, text: str, wrong: Exception) -> LakewardError:
    """The error for a value that cannot be read; clients look for its first two sentences."""
    why = str(wrong)
    return ErrorCode.INVALID_CONFIG.error(
        f"Invalid value for config '{key}'. Reason: Could not parse value '{text[:_SHOWN_VALUE_LENGTH]}' for key"
        f" '{key}'. {why[:1].upper()}{why[1:]}."
    )


class Scope(enum.StrEnum):
    """Where an option is set."""

    SERVER = "server"
    TABLE = "table"
    CLIENT = "client"
    SPARK = "spark"
    CONNECTOR = "connector"
    CATALOG = "catalog"
    SCRIPT = "script"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """One setting.

    `dynamic`: may change while the server runs; otherwise a change needs a restart or a new table. `inert`: it is
    accepted, and nothing reads it.
    """

    key: str
    kind: Kind[Any]
    default: T
    doc: str
    scope: Scope
    dynamic: bool = False
    secret: bool = False
    inert: bool = False

    def __post_init__(self) -> None:
        assert self.doc.endswith("."), f"the text of {self.key} is not a sentence"

    def parse(self, text: str) -> T:
        """The value of a text; INVALID_CONFIG when it cannot be read."""
        try:
            value: T = self.kind.parse(text)
        except (ValueError, OverflowError) as wrong:
            raise invalid_value(self.key, "***" if self.secret else text, wrong) from wrong
        return value

    def read(self, settings: Mapping[str, str]) -> T:
        """The value in these settings, or the default."""
        text = settings.get(self.key)
        return self.default if text is None else self.parse(text)

    def show(self, value: T) -> str:
        """A value as text that `parse` reads back."""
        return self.kind.show(value)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of older guides for an option, with the conversion of its value."""

    name: str
    key: str
    convert: Callable[[str], str] = str


@dataclass(frozen=True)
class OptionTable:
    """All options of one scope, by key."""

    scope: Scope
    rows: dict[str, Option[Any]] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)
    open_prefixes: dict[str, str] = field(default_factory=dict)

    def row(
        self,
        key: str,
        kind: Kind[T],
        default: T,
        doc: str,
        *,
        dynamic: bool = False,
        secret: bool = False,
    ) -> Option[T]:
        """Declare an option that has a default."""
        return self._add(Option(key, kind, default, doc, self.scope, dynamic, secret))

    def optional(
        self, key: str, kind: Kind[T], doc: str, *, dynamic: bool = False, secret: bool = False
    ) -> Option[T | None]:
        """Declare an option that may be left unset."""
        return self._add(Option(key, kind, None, doc, self.scope, dynamic, secret))

    def switch(self, key: str, doc: str, *, default: bool = False, dynamic: bool = False) -> Option[bool]:
        """Declare an option that is on or off."""
        return self._add(Option(key, BOOL, default, doc, self.scope, dynamic))

    def inert(
        self, key: str, kind: Kind[Any] = TEXT, default: object = None, *, dynamic: bool = False, secret: bool = False
    ) -> None:
        """Declare an option of Apache Fluss that has no effect here: a configuration of theirs still starts ours."""
        self._add(Option(key, kind, default, _INERT, self.scope, dynamic, secret, inert=True))

    def alias(self, name: str, option: Option[Any], convert: Callable[[str], str] = str) -> None:
        """Declare another name for an option."""
        assert name not in self.aliases, f"{name} is declared twice"
        assert name not in self.rows, f"{name} is an option already"
        self.aliases[name] = Alias(name, option.key, convert)

    def open_prefix(self, prefix: str, doc: str) -> None:
        """Accept every key that starts so, as text."""
        self.open_prefixes[prefix] = doc

    def adopt(self, other: OptionTable, without: Container[str] = ()) -> None:
        """Take the rows, aliases and open prefixes of another table as one's own, but for some rows."""
        for option in other:
            if option.key not in without:
                self._add(option)
        for alias in other.aliases.values():
            if alias.key not in without:
                self.alias(alias.name, self.rows[alias.key], alias.convert)
        for prefix, doc in other.open_prefixes.items():
            self.open_prefix(prefix, doc)

    def _add(self, option: Option[T]) -> Option[T]:
        assert option.key not in self.rows, f"{option.key} is declared twice"
        self.rows[option.key] = option
        return option

    def __iter__(self) -> Iterator[Option[Any]]:
        return iter(self.rows.values())

    def is_open(self, key: str) -> bool:
        """Whether a key belongs to a family whose members are not listed."""
        return any(key.startswith(prefix) for prefix in self.open_prefixes)

    def canonical(self, key: str, value: str) -> tuple[str, str]:
        """Key and value under the canonical name; others come back as they are."""
        alias = self.aliases.get(key)
        if alias is None:
            return key, value
        try:
            return alias.key, alias.convert(value)
        except (ValueError, OverflowError) as wrong:
            raise invalid_value(key, value, wrong) from wrong

    def canonical_key(self, key: str) -> str:
        """The canonical name of a key."""
        alias = self.aliases.get(key)
        return key if alias is None else alias.key

    def check(self, settings: Mapping[str, str]) -> None:
        """Refuse unknown keys and unreadable values."""
        for key, value in settings.items():
            option = self.rows.get(key)
            if option is not None:
                option.parse(value)
            elif not self.is_open(key):
                raise self.unknown(key)

    def nearest(self, key: str) -> str:
        """The known name that looks much like this one, as a sentence to end a message with; empty if none does."""
        found = difflib.get_close_matches(key[:_SHOWN_KEY_LENGTH], [*self.rows, *self.aliases], n=1, cutoff=_LIKENESS)
        if not found:
            return ""
        meaning = f" ('{self.aliases[found[0]].key}')" if found[0] in self.aliases else ""
        return f" The nearest known name is '{found[0]}'{meaning}."

    def unknown(self, key: str) -> LakewardError:
        """The error for a key nobody declared."""
        shown = key if len(key) <= _SHOWN_KEY_LENGTH else f"{key[:_SHOWN_KEY_LENGTH]}…"
        return ErrorCode.INVALID_CONFIG.error(
            f"'{shown}' is not a recognized {self.scope} property.{self.nearest(key)}"
        )
