"""How commands hang together: CommandTree is the root, whose branches load when they are named; Verbs is a noun's."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from lakeward.cli.input.failures import told_plainly
from lakeward.cli.input.near_names import nearest

Sections = Mapping[str, Mapping[str, str]]


class CommandTree(click.Group):
    """The root of the program. `sections` maps titles to commands, and a command to the module that holds it.

    `aliases` are further names, which no list shows.
    """

    def __init__(
        self, *args: Any, sections: Sections, aliases: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._sections = sections
        self._aliases = aliases or {}
        self._modules = {name: module for commands in sections.values() for name, module in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order in which they are shown."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name, loaded now."""
        name = self._aliases.get(cmd_name, cmd_name)
        module = self._modules.get(name)
        if module is None:
            return None
        command = getattr(import_module(module), name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was named; one that is misspelt is guessed at, and not run."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as wrong:
            near = nearest(args[0], self._modules)
            if near is None or "Did you mean" in wrong.message:
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near!r}?", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named; errors are reported plainly."""
        with told_plainly(ctx):
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, one section after the other."""
        width = max(len(name) for name in self._modules)
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self._short_help(ctx, name)) for name in names])

    def _short_help(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(limit=90)


class Verbs(click.Group):
    """What can be done with one noun, shown in the order in which it is written."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, as they were declared."""
        return list(self.commands)
