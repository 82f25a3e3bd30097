"""A service put together from settings, on any runner."""

from __future__ import annotations

from lakeward.client.blocking.sync import Connection
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.telemetry.tracing.tracer import Tracer
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.held_rounds import HeldRounds
from lakeward.tiering.round.round import RoundContext, run_round
from lakeward.tiering.round.runner import LocalRunner, Runner
from lakeward.tiering.service import TieringService
from lakeward.tiering.settings import TieringSettings
from lakeward.tiering.watch.housekeeper import Housekeeper
from lakeward.tiering.watch.watchers import Watcher, Watchers

_SLOTS_MIN = 2


def assemble(
    settings: TieringSettings, conn: Connection, runner: Runner, watcher: Watcher, tracer: Tracer | None = None
) -> TieringService:
    """A service that runs its rounds on a runner; a tracer follows them."""
    clock = SystemClock()
    catalogs = LakeCatalogs(settings.lake)
    context = RoundContext(conn, catalogs, runner, clock, settings.bootstrap, settings.client, tracer=tracer)
    return TieringService(
        conn,
        lambda held: run_round(context, held),
        clock,
        Watchers([watcher, Housekeeper(conn, catalogs, clock)]),
        slots=max(_SLOTS_MIN, runner.slots),
        held_rounds=HeldRounds(settings.state_directory(), settings.bootstrap, SystemEntropy()),
    )


def local_runner(conn: Connection, slots: int, clock: Clock | None = None) -> LocalRunner:
    """Tasks on threads of this process, over one connection."""
    return LocalRunner(lambda _: conn, clock or SystemClock(), slots)
