"""Page: one row. Where it is, what it is called, and who answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from lakeward.console.frame.visit import Visit

Handler = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Page:
    """One path of the console.

    `nav` is its label in the navigation; without one it is reached from other pages. `position` orders the labels.
    `method` is GET or POST. A POST changes something, unless `changes` says that it only asks: read-only consoles
    refuse those that change. `is_public`: shown before anybody has logged in.
    """

    path: str
    title: str
    handler: Handler
    nav: str = ""
    position: int = 100
    method: str = "GET"
    changes: bool = True
    is_public: bool = False

    @property
    def is_refused_read_only(self) -> bool:
        """Whether it is not for a console that changes nothing."""
        return self.method != "GET" and self.changes
