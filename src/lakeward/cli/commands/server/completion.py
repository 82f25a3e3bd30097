"""lakeward completion: the script that teaches a shell our commands and the server's table names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_LAKEWARD_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    Commands, options, and names of databases and tables complete; names come from the server, if it answers quickly.

    \b
    Examples:
      source <(lakeward completion bash)                                       # in ~/.bashrc
      source <(lakeward completion zsh)                                        # in ~/.zshrc
      lakeward completion fish > ~/.config/fish/completions/lakeward.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "lakeward", _VARIABLE).source())
