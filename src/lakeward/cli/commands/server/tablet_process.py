"""A tablet server that `lakeward serve --tablets` has started; run as a module, with its brief on standard input."""

from __future__ import annotations

import logging
import sys

from lakeward.cli.commands.server.serve import begin_log, run_server, stop_on_signals
from lakeward.errors import LakewardError

_log = logging.getLogger("lakeward.server.crew.tablet")


def main() -> None:
    """Read the brief, and be that tablet server."""
    from lakeward.server.crew.tablet_life import TabletBrief, live

    brief = TabletBrief.parse(sys.stdin.read())
    begin_log(verbose="--verbose" in sys.argv, who=f"tablet-{brief.server_id} ")

    async def life() -> None:
        await live(brief, stop_on_signals())

    try:
        run_server(life())
    except (LakewardError, OSError) as wrong:
        _log.error("this tablet server ends: %s", wrong)
        sys.exit(1)


if __name__ == "__main__":
    main()
