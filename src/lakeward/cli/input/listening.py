"""Options of commands that listen: which address and port, under which names, with which certificate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_Command = Callable[..., Any]


def bind_option(command: _Command) -> _Command:
    """`--bind`."""
    return click.option(
        "--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."
    )(command)


def web_options(port: int, readers: str) -> Callable[[_Command], _Command]:
    """`--port`, `--bind` and `--name`."""

    def add(command: _Command) -> _Command:
        names = click.option(
            "--name", "names", multiple=True, metavar="HOST", help=f"Another name under which {readers} reach it."
        )
        port_option = click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=port,
            show_default=True,
            help="Port to listen on; 0 picks a free one.",
        )
        return port_option(bind_option(names(command)))

    return add


def certificate_options(command: _Command) -> _Command:
    """`--certificate` and `--key`, as `certificate_file` and `key_file`: paths as text, since libraries want that."""
    certificate = click.option(
        "--certificate", "certificate_file", type=_FILE, callback=_text, help="Certificate to encrypt with, as PEM."
    )
    key = click.option("--key", "key_file", type=_FILE, callback=_text, help="Its key, if that is another file.")
    return certificate(key(command))


def _text(_context: click.Context, _option: click.Parameter, path: Path | None) -> str | None:
    return None if path is None else str(path)
