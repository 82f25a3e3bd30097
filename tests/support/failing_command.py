"""A command that fails as it is told."""

from __future__ import annotations

import click

WRONG: BaseException = AssertionError("set by the test")


@click.command()
def fails() -> None:
    """Raise what the test wants."""
    raise WRONG
