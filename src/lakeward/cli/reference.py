"""The reference page of the command line, printed from the program: `python -m lakeward.cli.reference [--check]`."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent, fill

import click

from lakeward.cli.input.failures import Failure
from lakeward.cli.main import cli

_PAGE = Path("docs/reference/cli.md")
_HEAD = """# Command line

Printed from the program by `make docs`; a test compares the two. `lakeward COMMAND --help` says the same in a terminal.

Every command that talks to a server takes `--server` and `--debug` also after its name.
"""


def page() -> str:
    """The page as Markdown. Not click's own help, whose layout changes with its version."""
    parts = [part for path, command in commands("lakeward", cli) for part in _section(path, command)]
    return "\n\n".join([_HEAD.rstrip(), *parts]) + "\n"


def commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, each with its full name."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(f"{path} {name}", child)


def _section(path: str, command: click.Command) -> Iterator[str]:
    yield f"## {path}"
    arguments = [_argument(p) for p in command.params if isinstance(p, click.Argument)]
    verb = ["COMMAND …"] if isinstance(command, click.Group) else []
    yield f"`{' '.join([path, '[OPTIONS]', *arguments, *verb])}`"
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        lines = paragraph.removeprefix("\b\n").splitlines()
        if paragraph.startswith("\b\n"):
            yield lines[0]
            yield "```sh\n" + dedent("\n".join(lines[1:])) + "\n```"
        else:
            yield fill(" ".join(lines), 120, break_long_words=False, break_on_hyphens=False)
    options = [p for p in command.params if isinstance(p, click.Option) and (command is cli or p.expose_value)]
    if options:
        yield "\n".join(["| option | |", "|---|---|", *map(_option_row, options)])


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required or argument.metavar else f"[{name}]"


def _option_row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {_value(option)}"
    shown = option.show_default and option.default is not None
    default = f" Default: {option.default}." if shown else ""
    repeated = " May be repeated." if option.multiple else ""
    return f"| {names}{value} | {option.help}{default}{repeated} |"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return " \\| ".join(f"`{choice}`" for choice in option.type.choices)
    return f"`{option.metavar or option.type.name.split()[0].upper()}`"


@click.command()
@click.option("--check", is_flag=True, help="Only say whether the page is as it should be.")
@click.argument("path", default=_PAGE, type=click.Path(dir_okay=False, path_type=Path))
def main(check: bool, path: Path) -> None:
    """Write docs/reference/cli.md, or check it."""
    printed = page()
    if not check:
        path.write_text(printed)
    elif not path.exists() or path.read_text() != printed:
        raise Failure(f"{path} is not what the program prints; run `make docs`.")


if __name__ == "__main__":
    main()
