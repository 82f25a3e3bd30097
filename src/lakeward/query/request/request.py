"""ReadRequest: what a query wants of a table, on its way from the planner to the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lakeward.model.table import TablePath
from lakeward.options.spark import CLIENT_PREFIX, is_secret
from lakeward.query.request import filters as filters_json
from lakeward.query.request.filters import Filter
from lakeward.query.request.options import ReadOptions
from lakeward.query.request.views import View, parse_name, view_name

#: Tasks that an engine is assumed to run side by side when it does not say.
_PARALLELISM = 2


@dataclass(frozen=True)
class ReadRequest:
    """A read: columns in the asked order (None: all of the view's), filters that must all hold, options as given."""

    path: TablePath
    view: View = View.ROWS
    columns: tuple[str, ...] | None = None
    filters: tuple[Filter, ...] = ()
    limit: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    parallelism: int = _PARALLELISM

    @classmethod
    def of_name(cls, name: str, **rest: Any) -> ReadRequest:
        """A read of `db.table` or of one of its views."""
        path, view = parse_name(name)
        return cls(path, view, **rest)

    @property
    def name(self) -> str:
        """The table as it was asked for, view included."""
        return view_name(self.path, self.view)

    @cached_property
    def settings(self) -> ReadOptions:
        """The options as values."""
        return ReadOptions.of(self.options)

    def to_json(self) -> dict[str, Any]:
        """The JSON form. Options that name secrets are left out: a read needs none of them."""
        return {
            "table": self.name,
            "columns": None if self.columns is None else list(self.columns),
            "filters": [filters_json.to_json(f) for f in self.filters],
            "limit": self.limit,
            "options": {k: v for k, v in self.options.items() if not _stays(k)},
            "parallelism": self.parallelism,
        }

    @classmethod
    def of_json(cls, json: Mapping[str, Any]) -> ReadRequest:
        """The request of a JSON form; everything but the table may be left out."""
        columns, limit = json.get("columns"), json.get("limit")
        return cls.of_name(
            json["table"],
            columns=None if columns is None else tuple(columns),
            filters=tuple(filters_json.of_json(f) for f in json.get("filters") or ()),
            limit=None if limit is None else int(limit),
            options=dict(json.get("options") or {}),
            parallelism=int(json.get("parallelism") or _PARALLELISM),
        )


def _stays(key: str) -> bool:
    return key.lower().startswith(CLIENT_PREFIX) or is_secret(key)
