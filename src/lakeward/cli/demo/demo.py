"""lakeward demo: a server, a stream of orders, a live tail of it and its way into a lake, in one terminal."""

from __future__ import annotations

import os
import signal
import threading
from _thread import interrupt_main
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lakeward
from lakeward.cli.commands.rows.tail import show
from lakeward.cli.demo.cdc import cdc
from lakeward.cli.demo.child_bucket import BUCKET, ChildBucket
from lakeward.cli.demo.child_catalog import ChildCatalog
from lakeward.cli.demo.child_console import ChildConsole
from lakeward.cli.demo.child_server import PORT_DEFAULT, ChildServer, is_free
from lakeward.cli.demo.home import DemoHome
from lakeward.cli.demo.lake import ENGINES, PROPERTIES, DemoLake, engine_or_default
from lakeward.cli.demo.orders import COLUMNS, Orders
from lakeward.cli.demo.screen import DemoScreen
from lakeward.cli.demo.tally import DemoTally
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.output.listing import count, say
from lakeward.errors import LakewardError
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync_table import Table

_TABLE = "demo.orders"
#: The reader is to be there before the first order, whose delay would be the reader's otherwise.
_HEAD_START_S = 0.5


@click.group(cls=Verbs, invoke_without_command=True)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".demo"),
    show_default=True,
    help="Where the server keeps its data; a second run goes on with it.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT_DEFAULT, show_default=True, help="Port to listen on."
)
@click.option("--rate", type=click.FloatRange(0.1, 1000), default=50, show_default=True, help="Orders per second.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after this many orders.")
@click.option(
    "--engine", type=click.Choice(ENGINES), help="Moves orders into the lake.  [default: spark, if there is one]"
)
@click.option("--s3", "in_s3", is_flag=True, help="Keep the lake, closed segments and snapshots in a bucket.")
@click.pass_context
def demo(
    context: click.Context,
    data_dir: Path,
    port: int,
    rate: float,
    limit: int | None,
    engine: str | None,
    in_s3: bool,
) -> None:
    """Start a server, a stream of orders, a live view of them, and a service that moves them into a lake.

    Ctrl-C stops everything; the orders are then in an Iceberg table below the data directory. The last column says how
    many milliseconds after an order was placed it was read back: through the writer, the server's log, and the reader
    that waits for news. With --s3 an S3 server (SeaweedFS) is started too, and everything but what is hot is there.

    \b
    Examples:
      lakeward demo
      lakeward demo --s3 --data-dir .demo-s3
      lakeward demo --rate 5 --data-dir /tmp/demo --port 0
      lakeward demo cdc
    """
    if context.invoked_subcommand is not None:
        return
    signal.signal(signal.SIGTERM, _interrupt)
    if port and not is_free(port):
        say(f"Port {port} is taken; another one is used.")
        port = 0
    try:
        with ExitStack() as stack:
            home = _home(stack, data_dir, in_s3=in_s3)
            server = stack.enter_context(
                ChildServer(data_dir / "data", data_dir / "server.log", port, home.server_options, home.environment)
            )
            stack.callback(home.tell_bucket)
            console = stack.enter_context(ChildConsole(server.bootstrap, data_dir / "console.log", home.environment))
            catalog = stack.enter_context(
                ChildCatalog(server.bootstrap, data_dir / "catalog.log", home.environment, home)
            )
            browser = console.hint + catalog.hint
            with DemoScreen() as screen:
                _run(server, home, browser, screen, rate, limit, engine_or_default(engine))
    except KeyboardInterrupt:
        say("\nStopped.")
    if any(log.stat().st_size for log in (data_dir / "data").glob("demo/orders-*/**/*.log")):
        say(f"The orders stay in {data_dir}; the next run goes on from there.")


demo.add_command(cdc)


def _home(stack: ExitStack, directory: Path, *, in_s3: bool) -> DemoHome:
    if not in_s3:
        return DemoHome(directory)

    say("An S3 server is started …")
    bucket = stack.enter_context(ChildBucket(directory))
    os.environ.update(bucket.environment)  # the demo reads the lake itself
    return DemoHome(directory, bucket, bucket.environment)


def _run(
    server: ChildServer,
    home: DemoHome,
    browser: str,
    screen: DemoScreen,
    rate: float,
    limit: int | None,
    engine: str,
) -> None:
    with lakeward.connect(server.bootstrap) as writing, lakeward.connect(server.bootstrap) as reading:
        writing.create_database("demo", exist_ok=True)
        table = writing.create_table(
            _TABLE, COLUMNS, comment="made up by lakeward demo", properties=PROPERTIES, exist_ok=True
        )
        has_lake = engine != "none" and not screen.is_live
        screen.introduce(_hints(server, home, table.count(), rate, browser, has_lake=has_lake))
        stream = OrderStream(table, rate)
        start = table.offsets("latest")
        with (
            DemoLake(writing, table, server.bootstrap, home, engine, screen) as lake,
            DemoTally(reading, table, lake.properties, screen),
        ):
            try:
                stream.start()
                orders = reading.table(_TABLE).scan(start=start, end=None, limit=limit).follow()
                show((_with_delay(batch) for batch in screen.thin_out(orders)), "table", streams=True)
            finally:
                stream.stop()
                if stream.failure is not None:
                    raise stream.failure


def _hints(server: ChildServer, home: DemoHome, rows: int, rate: float, browser: str, *, has_lake: bool) -> str:
    option = "" if server.bootstrap.endswith(f":{PORT_DEFAULT}") else f" -s {server.bootstrap}"
    query = f"'FROM {_TABLE} SELECT item, count(*) GROUP BY 1'"
    keys = (
        ""
        if home.bucket is None
        else f"S3 is at {home.bucket.endpoint}; the lake, closed segments and snapshots are in s3://{BUCKET}.\n"
        f"What reads the lake from another terminal needs its keys:  source {home.bucket.keys_path}\n"
    )
    return (
        keys
        + f"Lakeward is ready at {server.bootstrap}, with data in {home.directory} and its log in {server.log_path}.\n"
        f"Table {_TABLE} has {count(rows, 'order')}; {rate:g} a second go in and come out below. Ctrl-C stops.\n"
        f"{browser}"
        f"In another terminal:  .venv/bin/lakeward tables describe {_TABLE}{option}\n"
        f"                      .venv/bin/lakeward tail {_TABLE} --columns item,price{option}\n"
        + f"                      .venv/bin/lakeward sql {query}{option}\n"
        + (f"                      .venv/bin/lakeward remote status{option}\n" if home.bucket is not None else "")
        + f"                      curl {server.bootstrap}/metrics\n"
        + (f"Lines with ── count {_TABLE} as one table, and what each of its halves has of that.\n" if has_lake else "")
    )


class OrderStream:
    """Places orders from a thread of its own until it is stopped."""

    def __init__(self, table: Table, rate: float) -> None:
        self._orders = Orders(SystemClock(), SystemEntropy(), table.count() + 1)
        table.append([self._orders.next()])  # what loads with the first row is not to count as its delay
        table.head(1)
        self._table = table
        self._pause_s = 1 / rate
        self.failure: LakewardError | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._place, name="orders", daemon=True)

    def start(self) -> None:
        """Begin to place orders."""
        self._thread.start()

    def stop(self) -> None:
        """Place no more, and wait until those under way are in the log."""
        self._stopping.set()
        self._thread.join()

    def _place(self) -> None:
        self._stopping.wait(_HEAD_START_S)
        try:
            with self._table.writer(linger_ms=0) as writer:
                while not self._stopping.wait(self._pause_s):
                    writer.write([self._orders.next()])
        except LakewardError as wrong:
            self.failure = wrong
            interrupt_main()  # the reader may wait for ever for rows that nobody writes


def _with_delay(orders: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    now_ms = SystemClock().now_ms()
    placed: list[Any] = orders.column("placed_at").cast(pa.int64()).to_pylist()
    return orders.append_column("delay ms", pa.array([now_ms - at for at in placed], pa.int64()))


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
