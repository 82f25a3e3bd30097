"""Panel: one picture on a dashboard."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.monitoring.query import Query


class Panel(NamedTuple):
    """What it shows; its unit and its explanation are those of the first metric it asks for."""

    title: str
    queries: tuple[Query, ...]
    is_figure: bool = False
    """One large number instead of lines over time."""


class Dashboard(NamedTuple):
    """A page of panels, in the order in which they are read."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    filters: tuple[tuple[str, str], ...] = ()
    """Labels by which a person may narrow it down, each with the metric that knows its values."""
