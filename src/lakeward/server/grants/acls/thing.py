"""Thing: a resource, and what the asker called it."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.model.acl import Resource


class Thing(NamedTuple):
    """Whoever asks by number is not told names that they may not know."""

    resource: Resource
    called: str

    @classmethod
    def by_name(cls, resource: Resource) -> Thing:
        """A resource that was asked for by its name."""
        return cls(resource, str(resource))
