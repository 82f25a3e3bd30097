"""lakeward serve: one process, both roles, one port."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lakeward.cli.input.fluss_properties import VARIABLE, settings_of
from lakeward.cli.output.plain_text import PlainFormatter
from lakeward.errors import ErrorCode
from lakeward.options.endpoint import Endpoint
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import keep_private
from lakeward.runtime.process.settled_heap import settle_heap
from lakeward.runtime.process.supervisor import tell_supervisor
from lakeward.storage.disk.directories import LOCK_FILE

if TYPE_CHECKING:
    from lakeward.options.server_options import ServerOptions
    from lakeward.runtime.entropy import Entropy
    from lakeward.server.crew.crew import Crew
    from lakeward.server.front import ListenerAddress
    from lakeward.server.node import Node

_PORT_DEFAULT = 9123
_LISTENERS = ("bind.listeners", "listeners")
_FIRST_USER = "LAKEWARD_FIRST_USER"
_STOP_S = 9.0
_ORPHANS_S, _LOOK_S = 10.0, 0.05
#: How long a thread that works in Python keeps the loop waiting each time: three or four times a request.
_SWITCH_S = 0.001


@click.command()
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="LAKEWARD_CONFIG",
    help="Settings as YAML.  [env var: LAKEWARD_CONFIG]",
)
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Where metadata and logs are kept.")
@click.option("--host", metavar="NAME", help="Name or address to listen on; 0.0.0.0 is all. [default: localhost]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one. [default: 9123]")
@click.option(
    "--tablets",
    type=click.IntRange(1, 64),
    metavar="N",
    help="A coordinator and N tablet servers as processes of their own, on the ports behind.",
)
@click.option("-D", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting, by its name in Apache Fluss.")
@click.option("--verbose", is_flag=True, help="Say more in the log.")
def serve(
    config: Path | None,
    data_dir: Path | None,
    host: str | None,
    port: int | None,
    tablets: int | None,
    pairs: tuple[str, ...],
    verbose: bool,
) -> None:
    """Start a server: coordinator and tablet roles on one port, or with --tablets each in a process of its own.

    Any Fluss client can talk to it. Metadata is kept in SQLite and data in files, both below the data directory.
    Settings are those of the command line, then those in the variable FLUSS_PROPERTIES (lines of `key: value` or
    `key=value`), then those of the file, then defaults.

    \b
    Examples:
      lakeward serve
      lakeward serve --data-dir /var/lib/lakeward --port 9200
      lakeward serve --tablets 4
      lakeward serve --config server.yaml -D log.segment.file-size=256mb
    """
    begin_log(verbose=verbose)
    options = options_of(config, data_dir, port, (*_first_user(), *pairs), host)
    run_server(_serve(options, tablets or 0, verbose=verbose))


def begin_log(*, verbose: bool, who: str = "") -> None:
    """Log to standard error; `who` names a process that is not alone."""
    output = logging.StreamHandler(sys.stderr)
    output.setFormatter(PlainFormatter(f"%(asctime)s %(levelname)s {who}%(name)s %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, handlers=[output])
    keep_private()


def run_server(life: Coroutine[Any, Any, None]) -> None:
    """Live as a server does, and end."""
    import uvloop

    sys.setswitchinterval(_SWITCH_S)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(life)
        _leave()


def _first_user() -> list[str]:
    """The option for the variable that names the first user; not its value, which options show in errors."""
    return [f"security.users.first=${{env:{_FIRST_USER}}}"] if _FIRST_USER in os.environ else []


def options_of(
    config: Path | None, data_dir: Path | None, port: int | None, pairs: tuple[str, ...], host: str | None = None
) -> ServerOptions:
    """What a command line says of a server; it wins over FLUSS_PROPERTIES, and that over the file."""
    from lakeward.options.server_options import ServerOptions

    environment = settings_of(os.environ.get(VARIABLE, ""), os.environ)
    settings: dict[str, object] = {}
    if config is not None:
        from lakeward.cli.input.config_file import settings_in

        settings = settings_in(config)
    flags = []
    if data_dir is not None:
        flags.append(f"data.dir={data_dir}")
    if port is not None or host is not None:
        if any(pair.partition("=")[0].strip() in _LISTENERS for pair in pairs):
            raise ErrorCode.INVALID_CONFIG.error(
                "--host and --port stand for one listener, and -D bind.listeners names some, too: leave one of the two"
                " out."
            )
        name = (host or "localhost").strip("[]")
        flags.append(f"bind.listeners={Endpoint('FLUSS', name, _PORT_DEFAULT if port is None else port)}")
    return ServerOptions.of(settings, [*pairs, *flags], environment)


def _shown_addresses(addresses: list[ListenerAddress]) -> str:
    """Where clients come in; they take one of several listeners, which differ in what they ask for."""
    if len(addresses) == 1:
        return _shown_address(addresses[0])
    return " or ".join(f"{_shown_address(one)} ({one.name}, {one.protocol})" for one in addresses)


def _shown_address(one: ListenerAddress) -> str:
    return f"[{one.host}]:{one.port}" if ":" in one.host else f"{one.host}:{one.port}"


async def _serve(options: ServerOptions, tablets: int, *, verbose: bool) -> None:
    from lakeward.server.doors import Doors
    from lakeward.server.node import start_node

    stopping, doors = stop_on_signals(), Doors.of_this_machine()
    await _outlive_orphans(options.data_dir() / LOCK_FILE)
    node = await start_node(options, doors, fleet_size=tablets)
    crew = await _start_crew(node, options, doors.entropy, verbose=verbose) if tablets else None
    settle_heap()
    where = _shown_addresses(node.addresses)
    with_whom = f", {tablets} tablet servers" if tablets else ""
    print(f"Lakeward is ready: bootstrap.servers={where} (data in {options.data_dir()}){with_whom}", flush=True)
    tell_supervisor("READY=1")
    await stopping.wait()
    print("Stopping …", flush=True)
    failed = [] if crew is None else await crew.stop()
    await node.stop()
    if failed:
        who = ", ".join(map(str, failed))
        raise ErrorCode.STORAGE.error(f"Not all could stop in order: tablet server {who}; the log above says why.")
    print("Lakeward has stopped; all that was acknowledged is on disk.", flush=True)


async def _outlive_orphans(lock: Path) -> None:
    """Wait for the tablet servers of a coordinator that was killed: they end of themselves, and hold the directory."""
    for _ in range(int(_ORPHANS_S / _LOOK_S)):
        if not _is_held_by_orphans(lock):
            return
        await asyncio.sleep(_LOOK_S)


def _is_held_by_orphans(lock: Path) -> bool:
    """Whether somebody has a data directory, and it is not the process that took it."""
    if not lock.exists():
        return False
    free = LocalFiles().lock(lock)
    if free is not None:
        free.close()
        return False
    holder = lock.read_text().strip()
    return holder.isdecimal() and not Path(f"/proc/{holder}").exists()


async def _start_crew(node: Node, options: ServerOptions, entropy: Entropy, *, verbose: bool) -> Crew:
    """Tablet servers, each in a process of its own."""
    from lakeward.server.crew.crew import Crew
    from lakeward.server.roles import Roles

    assert isinstance(node.roles, Roles)
    assert node.roles.fleet is not None
    command = [sys.executable, "-m", "lakeward.cli.commands.server.tablet_process", *(["--verbose"] * verbose)]
    crew = Crew(node, node.roles.fleet, options, command, node.lock_number, entropy)
    try:
        await crew.start()
    except BaseException:
        await node.stop()
        raise
    return crew


def stop_on_signals() -> asyncio.Event:
    """Set when somebody wants this process to stop."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _begin_to_stop, stopping)
    return stopping


def _begin_to_stop(stopping: asyncio.Event) -> None:
    """Whoever asks a process to stop kills it after ten seconds, Docker for one; it goes of itself before that."""
    if stopping.is_set():
        return
    tell_supervisor("STOPPING=1")
    stopping.set()
    patience = threading.Timer(_STOP_S, _leave_anyway)
    patience.daemon = True
    patience.start()


def _leave_anyway() -> None:
    """What was acknowledged is in files already; only what would make the next start quick is left undone."""
    print(f"Stopped after {_STOP_S:g} s, not all tidied up; the next start looks after it.", flush=True)
    _leave()


def _leave() -> NoReturn:
    """End now: a thread that compiles what primary key tables need would be waited for, ten seconds and more."""
    sys.stdout.flush()
    logging.shutdown()
    os._exit(0)
