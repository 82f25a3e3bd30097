"""Dashboards and alerts before a real Prometheus: every question is answered under load, every alert can be caused."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import pytest
from cli_process import Cli
from damage import flip
from eventually import eventually
from logins import ASKING, JAAS, log_in
from prometheus import Prometheus
from remote_tables import EAGER
from server_process import ServerProcess
from small_disk import SmallDisk, small_disk
from wire_client import WireClient

import lakeward
from lakeward.cli.commands.pipelines.pipeline_metrics import PipelineMetrics
from lakeward.cli.commands.scripts.job_metrics import JobMetrics
from lakeward.errors import LakewardError
from lakeward.monitoring.alerts import ALERTS
from lakeward.monitoring.dashboards import DASHBOARDS
from lakeward.monitoring.query import WINDOW
from lakeward.monitoring.rules import rules_yaml
from lakeward.pipelines.status import PipelineState, PipelineStatus, TableStatus
from lakeward.runtime.process.child import Child
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress, StreamRecord
from lakeward.tiering.watch.service_metrics import MetricsPage

_SET_CLOCK = Path(__file__).parents[1] / "support" / "clock_of_file.py"
_TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}
_CONNECTIONS = 40
#: What takes half an hour, or gigabytes, in earnest.
_LIMITS = {
    "LakewardLakeBehind": 0.5,
    "LakewardSlowWrites": 1e-6,
    "LakewardSlowReads": 1e-6,
    "LakewardMemory": 1e6,
    "LakewardSnapshotsOld": 1,
    "LakewardTieringFails": 0,
    "LakewardRemoteCopyFails": 0,
    "LakewardErrors": 0,
    "LakewardLoginsRefused": 0,
}


_LASTING = {"LakewardTieringFails", "LakewardRemoteCopyFails"}


class World:
    """A server on a small disk, tiering, jobs and pipelines, with a load on all of them, and Prometheus beside."""

    def __init__(self, directory: Path, disk: SmallDisk, audit_disk: SmallDisk) -> None:
        self.disk = disk
        self.audit_disk = audit_disk
        self.remote = directory / "remote"
        self.clock = directory / "clock"
        self.server = ServerProcess(
            disk.path / "data",
            Child,
            **EAGER,
            **ASKING,
            remote__data__dir=str(self.remote),
            security__sasl__plain__jaas__config=JAAS,
            security__login__max_failures_per_minute="100000",
            super__users="User:admin",
            authorizer__enabled="false",
            netty__server__max_connections=str(_CONNECTIONS),
            kv__snapshot__interval="1h",
            audit__dir=str(audit_disk.path),
        )
        self.server.program = [str(_SET_CLOCK)]
        self.server.log_file = directory / "server.log"
        self._directory = directory
        self._stack = contextlib.ExitStack()
        self._is_over = threading.Event()
        self.job = JobRecord(
            name="enrich",
            state=JobState.RUNNING,
            since_ms=0,
            pid=1,
            checkpoint="",
            streams=(StreamRecord(sink="shop.big", text="", sources=(), state="", checkpoint=""),),
        )
        self.pipeline = PipelineStatus(
            name="shop", state=PipelineState.RUNNING, pid=1, since_ms=0, file="", source="mysql", sink="fluss", lag_ms=5
        )

    def __enter__(self) -> Self:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CLOCK_OFFSET_FILE", str(self.clock))
            self._stack.enter_context(self.server)
        self.address = self.server.listeners["FLUSS"]
        self.cli = Cli(self.address, self._directory)
        self.conn = self._stack.enter_context(lakeward.connect(self.address))
        self.conn.create_database("shop")
        self.conn.create_table("shop.orders", "id BIGINT, what STRING")
        self.conn.create_table("shop.lake", "id BIGINT, what STRING", properties=_TIERED)
        self.conn.create_table("shop.users", "id BIGINT, name STRING, PRIMARY KEY (id)")
        targets = {
            "lakeward": self.address,
            "lakeward-tiering": self._start_tiering(),
            "lakeward-jobs": self._page(JobMetrics(lambda: [SimpleNamespace(record=self.job)])),
            "lakeward-pipelines": self._page(PipelineMetrics(self._pipelines())),  # type: ignore[arg-type]
        }
        rules = rules_yaml(_LIMITS, is_patient=False)
        self.prometheus = self._stack.enter_context(Prometheus(self._directory / "prometheus", targets, rules))
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        self._stack.callback(thread.join, 1)  # it may wait for a server that is no more
        self._stack.callback(self._is_over.set)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def guess(self) -> None:
        """Somebody tries a password."""
        with WireClient.of(self.server.listeners["CLIENT"]) as client, contextlib.suppress(Exception):
            log_in(client, "admin", "guess")

    def _pipelines(self) -> SimpleNamespace:
        world = self

        class Runs(SimpleNamespace):
            @property
            def runs(self) -> list[SimpleNamespace]:
                return [SimpleNamespace(status=world.pipeline)]

        return Runs()

    def _page(self, metrics: JobMetrics | PipelineMetrics) -> str:
        page = MetricsPage(metrics, 0, "127.0.0.1")
        self._stack.callback(page.close)
        return f"127.0.0.1:{page.port}"

    def _start_tiering(self) -> str:
        warehouse = str(self._directory / "lake")
        service = self.cli.start("tier", "--engine", "local", "--warehouse", warehouse, "--metrics-port", "0")
        self._stack.callback(service.kill)
        for line in service.stderr or ():
            if found := re.search(r"localhost:(\d+)/metrics", line):
                return f"127.0.0.1:{found[1]}"
        raise AssertionError("the tiering service said no port")

    def _work(self) -> None:
        """What ordinary clients do, and what some do wrong, until it is over."""
        number = 0
        while not self._is_over.wait(0.1):
            number += 1
            with contextlib.suppress(LakewardError, OSError):
                self._work_once(number)
            progress = StreamProgress(
                rows=number, batches=number, lag_rows=3, lag_ms=40, state_rows=2, late_rows=number, skipped_rows=number
            )
            self.job = replace(self.job, streams=(replace(self.job.streams[0], progress=progress),))
            tables = (TableStatus(source="shop.users", target="shop.users", rows=number),)
            self.pipeline = replace(self.pipeline, tables=tables, restarts=number)

    def _work_once(self, number: int) -> None:
        rows = [{"id": number * 10 + i, "what": "x" * 200} for i in range(10)]
        for name in ("shop.orders", "shop.lake"):
            self.conn.table(name).append(rows)
        users = self.conn.table("shop.users")
        users.upsert([{"id": number % 50, "name": str(number)}])
        users.lookup([{"id": 1}])
        with contextlib.suppress(LakewardError):
            self.conn.table("shop.nonexistent")
        self.guess()
        with WireClient.of(self.server.listeners["CLIENT"]) as client:
            log_in(client, "alice", "alice-secret")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """All of it, once."""
    directory = tmp_path_factory.mktemp("world")
    disks = small_disk(directory / "disk"), small_disk(directory / "audit")
    with disks[0] as disk, disks[1] as audit_disk, World(directory, disk, audit_disk) as made:
        yield made


def _ask_all_panels(world: World) -> None:
    """Under load no panel is empty."""
    empty = {
        (dashboard.name, panel.title, query.text.replace(WINDOW, "5s").replace("$table", ".*"))
        for dashboard in DASHBOARDS
        for panel in dashboard.panels
        for query in panel.queries
    }

    def all_answered() -> bool:
        empty.difference_update([one for one in empty if world.prometheus.ask(one[2])])
        return not empty

    assert eventually(all_answered, within_s=90), sorted(empty)


def _fill_the_disk(world: World) -> None:
    world.disk.fill(but_bytes=1 << 16)


def _leave_no_room_for_a_line(world: World) -> None:
    world.audit_disk.fill()
    for number in range(60):  # more than fits into a page that is there already
        world.conn.create_database(f"noted_{number}")


def _lose_remote_storage(world: World) -> None:
    world.remote.rename(world.remote.with_name("gone"))
    world.remote.write_text("a file where a directory was")


def _damage_a_segment(world: World) -> None:
    """It is found by a reader: the scrubber takes its time on a busy machine."""

    def segments() -> list[Path]:
        return sorted((world.server.data_dir / "shop").glob("orders-*/log-0/*.log"))

    assert eventually(lambda: len(segments()) > 2)
    *_, segment, _ = segments()  # the last one is still written to
    flip(segment, segment.stat().st_size // 2)
    with pytest.raises(LakewardError, match="are damaged"):
        world.conn.table("shop.orders").scan(start=int(segment.stem)).to_arrow()


def _open_few_files(world: World) -> None:
    count = len(list(Path(f"/proc/{world.server.pid}/fd").iterdir()))
    _, most = resource.prlimit(world.server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(world.server.pid, resource.RLIMIT_NOFILE, (count + 10, most))


def _come_in_crowds(world: World) -> None:
    host, port = world.address.rsplit(":", 1)
    crowd = [socket.create_connection((host, int(port))) for _ in range(_CONNECTIONS + 20)]
    assert eventually(lambda: "refused 127.0.0.1" in world.server.log_text)
    for one in crowd:
        one.close()


def _set_the_clock(world: World) -> None:
    world.clock.write_text("86400")


def _make_a_table_again(world: World) -> None:
    """Tiering does not go on in the lake table of another."""
    rows = [{"id": 1, "what": ""}]
    world.conn.create_table("shop.again", "id BIGINT, what STRING", properties=_TIERED)
    world.conn.table("shop.again").append(rows)
    committed = 'lakeward_tiering_rows_total{table="shop.again"} > 0'
    assert eventually(lambda: bool(world.prometheus.ask(committed)))
    world.conn.drop_table("shop.again")
    world.conn.create_table("shop.again", "id BIGINT, what STRING", properties=_TIERED)
    world.conn.table("shop.again").append(rows)


def _hold_the_loop(world: World) -> None:
    os.kill(world.server.pid, signal.SIGSTOP)
    time.sleep(1)  # it is this second that is seen
    os.kill(world.server.pid, signal.SIGCONT)


def _fail_the_job(world: World) -> None:
    world.job = replace(world.job, state=JobState.FAILED)


def _fail_the_pipeline(world: World) -> None:
    world.pipeline = replace(world.pipeline, state=PipelineState.WAITING)


def _do_nothing(_: World) -> None:
    """The load is enough."""


#: What is done so that an alert fires. Those that leave damage come last, in this order.
CAUSES: dict[str, Callable[[World], None]] = {
    **dict.fromkeys(_LIMITS.keys() - _LASTING, _do_nothing),
    "LakewardLoopHeld": _hold_the_loop,
    "LakewardTieringFails": _make_a_table_again,
    "LakewardConnectionsRefused": _come_in_crowds,
    "LakewardJobDown": _fail_the_job,
    "LakewardPipelineDown": _fail_the_pipeline,
    "LakewardClockInDoubt": _set_the_clock,
    "LakewardRemoteCopyFails": _lose_remote_storage,  # from here on segments stay
    "LakewardDamagedLog": _damage_a_segment,
    "LakewardAuditLost": _leave_no_room_for_a_line,
    "LakewardDiskAlmostFull": _fill_the_disk,
    "LakewardWritesStopped": _do_nothing,
    "LakewardOpenFiles": _open_few_files,
    "LakewardDown": lambda world: world.server.kill(),
}


def test_every_panel_is_answered_and_each_alert_fires_when_its_cause_is_there(world: World) -> None:
    """And not before: those that need no load are silent at first. One test, since the causes leave damage behind."""
    _ask_all_panels(world)
    assert {alert.name for alert in ALERTS} == set(CAUSES)
    for name, cause in CAUSES.items():
        if cause is not _do_nothing:
            assert name not in world.prometheus.firing()
        cause(world)
        assert eventually(lambda name=name: name in world.prometheus.firing(), within_s=60), (  # type: ignore[misc]
            f"{name} does not fire; {world.server.log_text[-2000:]}"
        )
