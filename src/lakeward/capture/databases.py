"""The kinds of databases there are, and how one is opened from options."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from lakeward.capture.patience import PatientDatabase
from lakeward.capture.port import Database
from lakeward.capture.stream_options import AWAY_TIMEOUT, STREAM_OPTIONS
from lakeward.options.option import OptionTable, Scope

SLOT_NAME = "slot.name"


class DatabaseKind(enum.Enum):
    """A kind of database: what people call it, and the module that opens it."""

    MYSQL = "MySQL"
    POSTGRES = "PostgreSQL"

    def options(self) -> OptionTable:
        """The options by which one is named and followed."""
        found = OptionTable(Scope.CONNECTOR)
        own = self._room("options")
        found.adopt(getattr(own, f"{self.name}_OPTIONS"))
        found.adopt(STREAM_OPTIONS, without=found.rows)
        for prefix, doc in STREAM_OPTIONS.open_prefixes.items():
            found.open_prefix(prefix, doc)
        return found

    def open(self, options: Mapping[str, str], *, is_expected: bool = True) -> Database:
        """The database that options name. Where it is expected to be there, it is waited for when it is away."""
        opener = getattr(self._room("database"), f"{self.name.capitalize()}Database")
        wait_s = AWAY_TIMEOUT.read(options) / 1000 if is_expected else 0.0
        return PatientDatabase(lambda: opener.of(options), wait_s)

    def options_of_stream(self, stream: str, given: Mapping[str, str]) -> dict[str, str]:
        """Options of a stream that has a name: what the server keeps for it has that name too, unless one is given."""
        if self is not DatabaseKind.POSTGRES or SLOT_NAME in given:
            return dict(given)
        return {**given, SLOT_NAME: self._room("settings").slot_name_of(stream)}

    def _room(self, part: str) -> Any:
        """A module of the kind's own room, which brings a client library: loaded when it is needed."""
        name = self.name.lower()
        return import_module(f"lakeward.capture.{name}.{name}_{part}")
