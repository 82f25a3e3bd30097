"""lakeward metadata: the catalog's files, of a server that is not running."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.server.verify import checked_data_dir
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.output.listing import say
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import keep_private

if TYPE_CHECKING:
    from lakeward.server.restore.repaired_metadata import RepairedMetadata


@click.group(cls=Verbs)
def metadata() -> None:
    """The files that say which tables there are, of a server that is not running."""


@metadata.command()
@click.option(
    "--data-dir",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    callback=checked_data_dir,
    help="The data directory of the server that does not start.",
)
@click.option("--yes", is_flag=True, help="Do not ask before giving up what cannot be read.")
def repair(data_dir: Path, yes: bool) -> None:
    """Put the newest state back that is whole.

    One damaged file is mended by the server itself when it starts. This is for metadata that the server refuses:
    changes after the state that is put back are given up. Directories of tables that it does not know are left alone
    and never used again.

    \b
    Example:
      lakeward metadata repair --data-dir /var/lib/lakeward
    """
    from lakeward.server.restore.repaired_metadata import repair_metadata

    keep_private()

    def ask(report: RepairedMetadata) -> bool:
        _say(report)
        return report.was_whole or yes or click.confirm("Put this state back?", err=True)

    report = repair_metadata(LocalFiles(), SystemEntropy(), data_dir, ask)
    say("The metadata is whole." if report.was_whole else f"Start it with: lakeward serve --data-dir {data_dir}")


def _say(report: RepairedMetadata) -> None:
    for trouble in report.troubles:
        say(f"Found: {trouble}.")
    say(f"The newest state that is whole: change {report.reached:,} of {report.end:,}, {len(report.tables)} tables.")
    for name in report.tables:
        say(f"  {name}")
    for stray in report.strays:
        say(f"Of a table that it does not know, and that stays where it is: {stray}")
