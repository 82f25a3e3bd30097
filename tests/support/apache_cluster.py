"""A real Apache Fluss with several tablet servers, each of which can be killed and started again; needs Java and Maven.

Places are left for tablet servers of ours: they come by ZooKeeper, as Apache's own do.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from faulty_links import FaultyLinks

from bench import apache_fluss

_QUICK = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class ApacheCluster:
    """ZooKeeper, coordinator, and tablet servers by number: Apache's and ours."""

    def __init__(self, settings: Mapping[str, str] | None = None, links: FaultyLinks | None = None) -> None:
        """Start ZooKeeper and the coordinator; `settings` are those of Apache's servers.

        With `links`, servers reach each other by these, under the names of their logs.
        """
        self._links = links
        jars = (apache_fluss.jar(name) for name in apache_fluss.JARS)
        self._class_path = ":".join(str(jar) for jar in jars)
        self.directory = Path(tempfile.mkdtemp(prefix="fluss-cluster-"))
        self._settings = {
            "zookeeper.path.root": "/fluss",
            "default.replication.factor": "3",
            "remote.data.dir": str(self.directory / "remote"),
            **(settings or {}),
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._ports: dict[str, int] = {}
        for name in ("zk", "remote", "log"):
            (self.directory / name).mkdir()
        zookeeper, coordinator = apache_fluss.free_ports(2)
        self.zookeeper, self.bootstrap = f"127.0.0.1:{zookeeper}", f"localhost:{coordinator}"
        (self.directory / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={self.directory}/zk\nclientPort={zookeeper}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
        )
        self._java("zookeeper", zookeeper, "-Xmx128m", apache_fluss.ZOOKEEPER, str(self.directory / "zoo.cfg"))
        if links is not None:
            links.names = self._names
            self.zookeeper = f"127.0.0.1:{links.front('zookeeper', zookeeper)}"
        self._settings["zookeeper.address"] = self.zookeeper
        self._configured("coordinator", coordinator, apache_fluss.COORDINATOR, {})

    # -- tablet servers

    def start_java(self, number: int) -> None:
        """Start one of Apache's, on the data it had before if it had any."""
        name = f"tablet-{number}"
        mine = {"tablet-server.id": str(number), "data.dir": str(self.directory / name)}
        port = self._ports.get(name) or apache_fluss.free_ports(1)[0]
        self._configured(name, port, apache_fluss.TABLET, mine)

    def start_ours(self, number: int, *options: str) -> None:
        """Start one of ours, on the data it had before if it had any."""
        name = f"tablet-{number}"
        port = self._ports.get(name) or apache_fluss.free_ports(1)[0]
        command = [sys.executable, "-m", "lakeward", "tablet", "--zookeeper", self.zookeeper, "--id", str(number)]
        command += ["--zookeeper-root", "/fluss", "--port", str(port), "--data-dir", str(self.directory / name)]
        command += [part for key, value in self._advertised(name, port).items() for part in ("-D", f"{key}={value}")]
        self._run(name, port, [*command, *options])

    def kill(self, number: int) -> None:
        """End a tablet server without a word to anybody."""
        process = self._processes.pop(f"tablet-{number}")
        process.kill()
        process.wait()

    def stop_server(self, number: int) -> None:
        """Have a tablet server hand over what it leads, and go."""
        process = self._processes.pop(f"tablet-{number}")
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log_files(self, number: int, table: str) -> list[Path]:
        """The log files of a table on one tablet server, in order."""
        return sorted((self.directory / f"tablet-{number}").glob(f"**/{table}-*/**/*.log"))

    def log_bytes(self, number: int, table: str) -> dict[str, bytes]:
        """What a tablet server has of each bucket of a table."""
        logs: dict[str, bytes] = {}
        for path in self.log_files(number, table):
            logs[path.parent.name] = logs.get(path.parent.name, b"") + path.read_bytes()
        return {bucket: data for bucket, data in logs.items() if data}

    def in_sync(self, table: str) -> set[tuple[int, ...]]:
        """The in-sync sets of a table's buckets, as ZooKeeper has them."""
        return {tuple(sorted(json.loads(node)["isr"])) for node in self.leaders(table)}

    def leaders(self, table: str) -> list[bytes]:
        """Leader and in-sync set of each bucket of a table, as ZooKeeper has them."""
        return [found["leader_isr"] for found in self.buckets(table).values()]

    def buckets(self, table: str) -> dict[str, dict[str, bytes]]:
        """Bucket → what the cluster knows of it, by the names of ZooKeeper's nodes."""
        from kazoo.client import KazooClient
        from kazoo.exceptions import NoNodeError

        client = KazooClient(self.zookeeper)
        client.start()

        def below(path: str, inner: str = "") -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for name in client.get_children(path):
                try:
                    found[inner + name] = client.get(f"{path}/{name}")[0]
                    found |= below(f"{path}/{name}", f"{inner}{name}/")
                except NoNodeError:
                    continue  # it has gone meanwhile
            return found

        try:
            about = client.get(f"/fluss/metadata/databases/fluss/tables/{table}")[0]
            buckets = f"/fluss/tabletservers/tables/{json.loads(about)['table_id']}/buckets"
            return {one: below(f"{buckets}/{one}") for one in sorted(client.get_children(buckets), key=int)}
        finally:
            client.stop()
            client.close()

    def log_of(self, name: str) -> str:
        """What a process has said: zookeeper, coordinator, tablet-NUMBER."""
        return (self.directory / "log" / name).read_text(errors="replace")

    def port(self, name: str) -> int:
        """Where coordinator or tablet-NUMBER listens itself, behind all links."""
        return self._ports[name]

    def pid(self, name: str) -> int:
        """The process of zookeeper, coordinator or tablet-NUMBER."""
        return self._processes[name].pid

    def stop(self, *, keep: bool = False) -> None:
        """End everything, and remove its data unless it is to be looked at."""
        for process in self._processes.values():
            process.kill()
            process.wait()
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    # -- processes

    def _configured(self, name: str, port: int, main: str, mine: Mapping[str, str]) -> None:
        conf = self.directory / f"conf-{name}"
        conf.mkdir(exist_ok=True)
        settings = {
            **self._settings,
            "bind.listeners": f"FLUSS://localhost:{port}",
            **self._advertised(name, port),
            **mine,
        }
        (conf / "server.yaml").write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
        self._java(name, port, "-Xmx512m", main, "--configDir", str(conf))

    def _advertised(self, name: str, port: int) -> dict[str, str]:
        if self._links is None:
            return {}
        return {"advertised.listeners": f"FLUSS://127.0.0.1:{self._links.front(name, port)}"}

    def _names(self) -> dict[int, str]:
        return {process.pid: name for name, process in self._processes.items()}

    def _java(self, name: str, port: int, *arguments: str) -> None:
        self._run(name, port, ["java", "-cp", self._class_path, *_QUICK, *apache_fluss.OPENS, *arguments])

    def _run(self, name: str, port: int, command: list[str]) -> None:
        with (self.directory / "log" / name).open("ab") as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log)
        self._ports[name] = port
        apache_fluss.await_port(port)
