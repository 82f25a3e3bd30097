"""Part: the options of one kind of source or sink, and which of them must be given."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.options.option import OptionTable


@dataclass(frozen=True, slots=True)
class Part:
    """What may stand under `source`, `sink`, an item of `route` or `transform`, or `pipeline`."""

    summary: str
    options: OptionTable
    required: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    """Groups of keys of which one group must be given as a whole."""
