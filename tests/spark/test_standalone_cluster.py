"""A standalone cluster: a master and two workers, with the data source that Spark finds by itself."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from server_process import ServerProcess

import lakeward as lw
from lakeward.runtime.process.child import Child

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore::FutureWarning")]

_SCRIPT = Path(__file__).parents[1] / "support" / "cluster_script.py"
_HOME = Path(pyspark.__file__).parent
_WORKERS = 2
_START_S = 120


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def cluster_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What master, workers and drivers have said, beside what the workers keep."""
    return tmp_path_factory.mktemp("cluster") / "cluster.log"


@pytest.fixture(scope="module")
def master(cluster_log: Path) -> Iterator[str]:
    """The address of a cluster of two workers; everything is gone afterwards."""
    port = _free_port()
    environment = {
        **os.environ,
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "SPARK_WORKER_DIR": str(cluster_log.parent / "workers"),
        "PYSPARK_PYTHON": sys.executable,
    }
    address = f"spark://127.0.0.1:{port}"
    ui = ["--webui-port", "0"]
    roles = [["master.Master", "--host", "127.0.0.1", "--port", str(port), *ui]]
    roles += [["worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "600m", *ui, address]] * _WORKERS
    with contextlib.ExitStack() as running, cluster_log.open("w") as log:
        for role, *arguments in roles:
            command = [str(_HOME / "bin/spark-class"), f"org.apache.spark.deploy.{role}", *arguments]
            process = Child(command, env=environment, stdout=log, stderr=log)
            running.callback(process.wait)
            running.callback(process.kill)
        _wait_for_workers(cluster_log)
        yield address


def _wait_for_workers(log: Path) -> None:
    end_s = time.monotonic() + _START_S
    while log.read_text().count("Registering worker") < _WORKERS:
        assert time.monotonic() < end_s, log.read_text()[-4000:]
        time.sleep(0.1)


@pytest.mark.long
def test_reads_writes_and_streams_on_two_workers(
    master: str, cluster_log: Path, server: ServerProcess, database: str, tmp_path: Path
) -> None:
    """Tasks run on both workers; what they staged is committed by the driver."""
    with lw.connect(server.bootstrap) as conn:
        source = conn.create_table(f"{database}.source", "id BIGINT, s STRING", buckets=4)
        copies = [conn.create_table(f"{database}.{name}", "id BIGINT, s STRING") for name in ("batch", "stream")]
        ids = list(range(1000))
        source.append({"id": ids, "s": [f"row {i}" for i in ids]})
        told = _submit(master, server.bootstrap, database, tmp_path, cluster_log)
        assert told == {"count": 1000, "sum": sum(ids), "executors": _WORKERS}
        for copy in copies:
            assert sorted(copy.scan(["id"]).to_arrow()["id"].to_pylist()) == ids


def _submit(master: str, bootstrap: str, database: str, directory: Path, log: Path) -> dict[str, int]:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(_SCRIPT), master, bootstrap, database, str(directory)]
    with log.open("a") as err:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=err, text=True)
    assert done.returncode == 0, log.read_text()[-6000:]
    answer: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return answer


_LOGIN = """
import sys
import lakeward as lw

bootstrap, master = sys.argv[1:]
login = {"client.security.sasl.username": "alice", "client.security.sasl.password": "${env:DRIVER_PASSWORD}"}
spark = lw.spark.session(bootstrap, master=master, **login, **{"spark.executor.memory": "512m"})
spark.sql("CREATE TABLE fluss.fluss.t (id BIGINT) TBLPROPERTIES ('bucket.num' = '4')")
spark.range(100).write.mode("append").insertInto("fluss.fluss.t")
assert spark.table("fluss.fluss.t").count() == 100
spark.stop()
"""


@pytest.mark.long
def test_executors_elsewhere_log_in_with_what_the_driver_knows(master: str, cluster_log: Path, tmp_path: Path) -> None:
    """They have not its environment; what they are told is in no file and no log that they leave behind."""
    password = "hush-cluster-4711"
    options = {
        "bind__listeners": "CLIENT://localhost:0",
        "security__protocol__map": "CLIENT:SASL",
        "security__sasl__plain__credentials": f"alice:{password}",
        "internal__listener__name": "CLIENT",
    }
    with ServerProcess(tmp_path / "data", **options) as server, cluster_log.open("a") as log:
        environment = {**os.environ, "DRIVER_PASSWORD": password, "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [sys.executable, "-c", _LOGIN, server.bootstrap, master]
        done = subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=400, check=False)
    assert done.returncode == 0, cluster_log.read_text()[-4000:]
    left = [path for place in (tmp_path, cluster_log.parent) for path in place.rglob("*") if path.is_file()]
    assert cluster_log in left
    assert [path for path in left if password.encode() in path.read_bytes()] == []
