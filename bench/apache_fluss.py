"""A real Apache Fluss from its published jar: ZooKeeper, coordinator and tablet servers, on loopback.

A peer for comparison only. Needs Java 17 and Maven; without them the bench goes on alone.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from bench.targets import Target

VERSION = os.environ.get("FLUSS_VERSION", "0.9.1-incubating")
JARS = (f"org.apache.fluss:fluss-server:{VERSION}", "org.slf4j:slf4j-simple:1.7.36")
_LAKE_JARS = (
    f"org.apache.fluss:fluss-lake-iceberg:{VERSION}",
    "org.xerial:sqlite-jdbc:3.50.3.0",
    "io.trino.hadoop:hadoop-apache:3.3.5-2",
    "ch.qos.reload4j:reload4j:1.2.25",
)
OPENS = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"]
ZOOKEEPER = "org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
COORDINATOR = "org.apache.fluss.server.coordinator.CoordinatorServer"
TABLET = "org.apache.fluss.server.tablet.TabletServer"


def available() -> bool:
    """Whether this machine can run it."""
    return shutil.which("mvn") is not None and shutil.which("java") is not None


def start(
    *,
    lake: bool = False,
    settings: Mapping[str, str] | None = None,
    users: Mapping[str, str] | None = None,
    more_tablets: int = 0,
) -> Target:
    """Start the processes and wait for their ports; with a lake, tables can be tiered into `lake_catalog`.

    With users and their passwords, clients come by a listener of their own that asks for one of them.
    """
    class_path = ":".join(str(jar(name)) for name in (*JARS, *(_LAKE_JARS if lake else ())))
    directory = Path(tempfile.mkdtemp(prefix="fluss-bench-"))
    zookeeper, coordinator, tablet, *for_users = free_ports(3 if users is None else 5)
    listeners = [f"FLUSS://localhost:{port}" for port in (coordinator, tablet)]
    for index, port in enumerate(for_users):
        listeners[index] += f",CLIENT://localhost:{port}"
    for name in ("zk", "data", "remote", "conf", "log"):
        (directory / name).mkdir()
    (directory / "zoo.cfg").write_text(
        f"tickTime=2000\ndataDir={directory}/zk\nclientPort={zookeeper}\n"
        "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
    )
    (directory / "conf" / "server.yaml").write_text(
        f"zookeeper.address: localhost:{zookeeper}\nzookeeper.path.root: /fluss\ndefault.replication.factor: 1\n"
        f"remote.data.dir: {directory}/remote\nbind.listeners: {listeners[0]}\n"
        f"tablet-server.id: 0\ndata.dir: {directory}/data\n"
        + (_lake_settings(directory) if lake else "")
        + (_login_settings(users) if users else "")
        + "".join(f"{key}: {value}\n" for key, value in (settings or {}).items())
    )
    conf = ["--configDir", str(directory / "conf")]
    begun = time.perf_counter()
    processes = []
    for name, port, arguments in (
        ("zookeeper", zookeeper, ["-Xmx256m", ZOOKEEPER, str(directory / "zoo.cfg")]),
        ("coordinator", coordinator, ["-Xmx1g", COORDINATOR, *conf]),
        ("tablet", tablet, ["-Xmx4g", TABLET, *conf, f"-Dbind.listeners={listeners[1]}"]),
    ):
        log = (directory / "log" / name).open("w")
        command = ["java", "-cp", class_path, *OPENS, *arguments]
        processes.append(psutil.Process(subprocess.Popen(command, stdout=log, stderr=log).pid))
        await_port(port)
    for number, port in enumerate(free_ports(more_tablets), 1):
        own = [f"-Dtablet-server.id={number}", f"-Ddata.dir={directory}/data-{number}"]
        own.append(f"-Dbind.listeners=FLUSS://localhost:{port}")
        log = (directory / "log" / f"tablet-{number}").open("w")
        command = ["java", "-cp", class_path, *OPENS, "-Xmx1g", TABLET, *conf, *own]
        processes.append(psutil.Process(subprocess.Popen(command, stdout=log, stderr=log).pid))
        await_port(port)
    door = for_users[0] if for_users else coordinator
    return Target("Apache Fluss", f"localhost:{door}", processes, time.perf_counter() - begun, directory)


def _login_settings(users: Mapping[str, str]) -> str:
    entries = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    module = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule"
    return (
        "security.protocol.map: CLIENT:sasl\nsecurity.sasl.enabled.mechanisms: PLAIN\n"
        f"security.sasl.plain.jaas.config: {module} required {entries};\n"
    )


def _lake_settings(directory: Path) -> str:
    return (
        f"datalake.format: iceberg\ndatalake.iceberg.type: jdbc\n"
        f"datalake.iceberg.uri: jdbc:sqlite:{directory}/catalog.db\ndatalake.iceberg.warehouse: {directory}/warehouse\n"
    )


def lake_catalog(directory: Path) -> dict[str, str]:
    """The catalog in which its coordinator creates lake tables, as pyiceberg opens it."""
    return {
        "name": "fluss-iceberg-catalog",
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"{directory}/warehouse",
    }


def restart_coordinator(cluster: Target) -> None:
    """Start the coordinator again; it reads from ZooKeeper which tables there are."""
    old = cluster.processes[1]
    command = old.cmdline()
    old.terminate()  # not killed: its place in ZooKeeper would outlive it
    old.wait(30)
    log = (cluster.directory / "log" / "coordinator").open("a")
    cluster.processes[1] = psutil.Process(subprocess.Popen(command, stdout=log, stderr=log).pid)
    await_port(int(cluster.bootstrap.rpartition(":")[2]))


def jar(name: str, ending: str = "jar") -> Path:
    """A jar, or another file, of Maven's local repository, fetched if it is not there."""
    group, artifact, version = name.split(":")
    repository = Path(os.environ.get("MAVEN_REPO", Path.home() / ".m2" / "repository"))
    path = repository / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.{ending}"
    if not path.exists():
        command = ["mvn", "-q", "-B", "dependency:get", "-Dtransitive=false", f"-Dartifact={name}:{ending}"]
        subprocess.run(command, check=True)
    return path


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def await_port(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"port {port} did not open")
