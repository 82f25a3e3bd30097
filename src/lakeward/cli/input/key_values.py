"""`KEY=VALUE` on the command line, as often as it is said."""

from __future__ import annotations

from collections.abc import Sequence

import click


def key_values(context: click.Context, option: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """`-p a=1 -p b=2` → {"a": "1", "b": "2"}; for use as an option's callback."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{text!r} is not KEY=VALUE.", context, option)
        if key.strip() in found:
            raise click.BadParameter(f"{key.strip()!r} is given twice.", context, option)
        found[key.strip()] = value.strip()
    return found
