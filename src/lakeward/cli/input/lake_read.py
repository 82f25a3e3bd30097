"""Options of commands that look at a table with its lake: which catalog, as of when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lakeward.cli.input.key_values import key_values


def lake_place_options(command: Callable[..., Any]) -> Any:
    """`--warehouse` and `--lake`; what they say is found by `lake_place`."""
    warehouse, catalog = _place_options()
    return warehouse(catalog(command))


def lake_place(warehouse: str | None, properties: dict[str, str]) -> dict[str, str]:
    """Properties of the lake's catalog, by the format's own names."""
    return ({} if warehouse is None else {"warehouse": warehouse}) | properties


def _place_options() -> tuple[Callable[..., Any], Callable[..., Any]]:
    return (
        click.option("--warehouse", metavar="DIR", help="Where lake tables are, if the tables do not say it."),
        click.option(
            "--lake", "properties", multiple=True, metavar="KEY=VALUE", callback=key_values, help="A catalog property."
        ),
    )


def lake_read_options(command: Callable[..., Any]) -> Any:
    """`--warehouse`, `--lake`, `--as-of` and `--snapshot`."""
    options = (
        *_place_options(),
        click.option("--as-of", metavar="TIME", help="As it was then: 2026-11-01T10:00:00Z, or milliseconds."),
        click.option("--snapshot", metavar="ID", help="As this snapshot of the lake has it."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_options(
    warehouse: str | None, properties: dict[str, str], as_of: str | None, snapshot: str | None
) -> dict[str, str]:
    """The options of a read that these say."""
    told = {"lake.warehouse": warehouse, "scan.timestamp-millis": as_of, "scan.snapshot-id": snapshot}
    return {f"lake.{k}": v for k, v in properties.items()} | {k: v for k, v in told.items() if v is not None}
