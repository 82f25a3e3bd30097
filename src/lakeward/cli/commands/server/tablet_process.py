"""A tablet server that `lakeward serve --tablets` has started; run as a module, with its brief on standard input."""

from __future__ import annotations

import sys

from lakeward.cli.commands.server.serve import begin_log, run_server, stop_on_signals


def main() -> None:
    """Read the brief, and be that tablet server."""
    from lakeward.server.crew.tablet_life import TabletBrief, live

    brief = TabletBrief.parse(sys.stdin.read())
    begin_log(verbose="--verbose" in sys.argv, who=f"tablet-{brief.server_id} ")

    async def life() -> None:
        await live(brief, stop_on_signals())

    run_server(life())


if __name__ == "__main__":
    main()
