"""The SQL server: takes its ports, says where it is, and stops when it is told to."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from lakeward.query.duckdb.question.closed_session import DuckBounds, memory_of
from lakeward.rpc.server_tls import ServerTls, new_context
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.process.descriptors import raise_limit
from lakeward.runtime.process.memory_limit import limit_memory
from lakeward.runtime.process.public_port import check_openness, is_loopback, listen
from lakeward.sql_server.access.proofs import Proofs
from lakeward.sql_server.flight.flight_server import FlightSqlServer
from lakeward.sql_server.frame.house import House
from lakeward.sql_server.frame.settings import SqlServerSettings
from lakeward.sql_server.plans.plan_app import PlanServer
from lakeward.sql_server.postgres.listener import PostgresListener
from lakeward.sql_server.work.short import LANES, lane_bounds

#: Connections of clients, files of lakes, connections to the cluster.
_FILES = 8192


def run_sql_server(settings: SqlServerSettings, say: Callable[[str], None]) -> None:
    """Serve until somebody stops it; `say` is told where it is."""
    check_openness("The SQL server", settings.bind, settings.options)
    raise_limit(_FILES)
    in_places = [DuckBounds(memory_bytes=settings.memory_bytes)] * settings.questions_max
    limit_memory(memory_of([*in_places, *[lane_bounds(settings.memory_bytes)] * LANES]))
    asyncio.run(_serve(settings, say))


async def _serve(settings: SqlServerSettings, say: Callable[[str], None]) -> None:
    house = House.of(settings, SystemClock(), SystemEntropy())
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    try:
        async with AsyncExitStack() as held:
            context = tls_context(settings)
            if settings.postgres_port is not None:
                await _open_postgres(house, context, held, say)
            if settings.flight_port is not None:
                held.push_async_callback(asyncio.to_thread, _open_flight(house, say).stop)
            if settings.http_port is not None:
                _open_plans(house, stopping, held, say)
            say(f"Answering questions about {settings.bootstrap}; Ctrl-C stops it.")
            await stopping.wait()
    finally:
        await asyncio.to_thread(house.close)


async def _open_postgres(
    house: House, context: ssl.SSLContext | None, held: AsyncExitStack, say: Callable[[str], None]
) -> None:
    settings = house.settings
    assert settings.postgres_port is not None
    listener = listen(settings.bind, settings.postgres_port)
    proofs = None if settings.users_from is None else Proofs(Path(settings.users_from), house.entropy)
    door = PostgresListener(house, proofs, context, is_local=is_loopback(settings.bind))
    held.push_async_callback(door.close)
    await door.start(listener)
    host, port = listener.getsockname()[:2]
    say(f"Postgres: psql -h {host} -p {port}")


def _open_flight(house: House, say: Callable[[str], None]) -> FlightSqlServer:
    settings = house.settings
    assert settings.flight_port is not None
    listen(settings.bind, settings.flight_port).close()  # a port that is taken is told as for the others
    host = f"[{settings.bind}]" if ":" in settings.bind else settings.bind
    scheme, certificate = "grpc", None
    if settings.certificate_file is not None:
        scheme = "grpc+tls"
        key = Path(settings.key_file or settings.certificate_file)
        certificate = Path(settings.certificate_file).read_bytes(), key.read_bytes()
    location = f"{scheme}://{host}:{settings.flight_port}"
    door = FlightSqlServer(house, location, certificate, is_local=is_loopback(settings.bind))
    say(f"Flight SQL: {scheme}://{host}:{door.port}")
    return door


def _open_plans(house: House, stopping: asyncio.Event, held: AsyncExitStack, say: Callable[[str], None]) -> None:
    settings = house.settings
    assert settings.http_port is not None
    listener = listen(settings.bind, settings.http_port)
    is_safe = is_loopback(settings.bind) or settings.encrypts
    task = asyncio.create_task(PlanServer(house, listener, takes_passwords=is_safe).run_until(stopping))
    held.push_async_callback(asyncio.wait, [task])
    host, port = listener.getsockname()[:2]
    say(f"Plans: {'https' if settings.encrypts else 'http'}://{host}:{port}/v1/plan")


def tls_context(settings: SqlServerSettings) -> ssl.SSLContext | None:
    """How it encrypts, if it does."""
    if settings.certificate_file is None:
        return None
    certificate = Path(settings.certificate_file)
    key = certificate if settings.key_file is None else Path(settings.key_file)
    return new_context(ServerTls(certificate, key, None, None, "none"), LocalFiles())
