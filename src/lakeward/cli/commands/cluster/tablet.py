"""lakeward tablet: a tablet server of an Apache Fluss cluster."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.server.serve import begin_log, options_of, run_server, stop_on_signals
from lakeward.options.server import BIND_LISTENERS
from lakeward.runtime.process.settled_heap import settle_heap
from lakeward.runtime.process.supervisor import tell_supervisor

if TYPE_CHECKING:
    from lakeward.options.server_options import ServerOptions
    from lakeward.server.front import ListenerAddress

_PORT_DEFAULT = 9124


@click.command()
@click.option("--zookeeper", metavar="HOST:PORT", help="The cluster's ZooKeeper; several are separated by commas.")
@click.option("--id", "server_id", type=click.IntRange(0), required=True, help="The number of this tablet server.")
@click.option("--zookeeper-root", metavar="PATH", help="The node that holds the cluster.  [default: /fluss]")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="LAKEWARD_CONFIG",
    help="Settings as YAML.  [env var: LAKEWARD_CONFIG]",
)
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Where logs are kept.")
@click.option("--host", metavar="NAME", help="Name or address to listen on. [default: localhost]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one. [default: 9124]")
@click.option("-D", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting, by its name in Apache Fluss.")
@click.option("--verbose", is_flag=True, help="Say more in the log.")
def tablet(
    zookeeper: str | None,
    server_id: int,
    zookeeper_root: str | None,
    config: Path | None,
    data_dir: Path | None,
    host: str | None,
    port: int | None,
    pairs: tuple[str, ...],
    verbose: bool,
) -> None:
    """Be a tablet server of an Apache Fluss cluster, beside those that it has.

    It registers in the cluster's ZooKeeper and obeys its coordinator: it leads and follows the buckets that are
    assigned to it, and replicas of one bucket may be on its servers and on this one. Needs lakeward[cluster].

    \b
    Examples:
      lakeward tablet --zookeeper zk1:2181,zk2:2181 --id 3 --data-dir /var/lib/lakeward --host tablet-3
      lakeward tablet --zookeeper localhost:2181 --id 3 --port 0 -D log.replica.max-lag-time=10s
    """
    begin_log(verbose=verbose)
    threading.excepthook = _mind_thread
    named = {"zookeeper.address": zookeeper, "zookeeper.path.root": zookeeper_root}
    flags = [f"{key}={value}" for key, value in named.items() if value is not None]
    wanted = _PORT_DEFAULT if port is None and host is not None else port
    options = options_of(config, data_dir, wanted, (*pairs, *flags), host)
    if BIND_LISTENERS.key not in options.texts:
        options = options_of(config, data_dir, _PORT_DEFAULT, (*pairs, *flags))
    run_server(_live(options, server_id))


def _mind_thread(ended: threading.ExceptHookArgs) -> None:
    """One of kazoo's that ends of an error tells it to whoever waits for an answer, too."""
    if ended.thread is None or "zk_loop" not in ended.thread.name:
        threading.__excepthook__(ended)


async def _live(options: ServerOptions, server_id: int) -> None:
    from lakeward.client.forms.security import security_of
    from lakeward.server.cluster_life import live_in_cluster

    security = security_of(options.texts)
    stopping = stop_on_signals()

    def ready(addresses: list[ListenerAddress]) -> None:
        settle_heap()
        where = " or ".join(f"{one.host}:{one.port}" for one in addresses)
        print(f"Lakeward is tablet server {server_id} at {where} (data in {options.data_dir()})", flush=True)
        tell_supervisor("READY=1")

    await live_in_cluster(options, server_id, security, stopping, ready)
    print("Lakeward has stopped; all that was acknowledged is on disk.", flush=True)
