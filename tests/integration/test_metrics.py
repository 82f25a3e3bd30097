"""What a server counts: shown, pushed, sent; with Prometheus' own programs and OpenTelemetry's own classes."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from eventually import eventually
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from otlp_receiver import OtlpReceiver, attributes
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward as client
from lakeward.errors import LakewardError
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.telemetry.otlp.resource import Resource
from lakeward.telemetry.reporters.otlp_collector import OtlpCollector
from lakeward.telemetry.reporters.span_sender import SpanSender
from lakeward.telemetry.rows.every_row import EVERY_ROW, SERVER_TABLES
from lakeward.telemetry.tracing.tracer import Tracer
from lakeward.tiering.round.round import run_round

#: What only a server with remote storage, an audit log, grants or traces shows.
ELSEWHERE = re.compile("lakeward_(remote_.*|audit_lost_total|acls|spans_total)")
GATEWAY = shutil.which("prometheus-pushgateway") or shutil.which("pushgateway")


def scrape(url: str) -> str:
    """What /metrics says."""
    with urllib.request.urlopen(f"http://{url}/metrics", timeout=30) as answer:
        return answer.read().decode()


def value(text: str, series: str) -> float | None:
    """The value of one series; None when it is not there."""
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    return None if found is None else float(found[1])


@pytest.fixture(scope="module")
def receiver() -> Iterator[OtlpReceiver]:
    """A collector of OpenTelemetry."""
    with OtlpReceiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, receiver: OtlpReceiver) -> Iterator[ServerProcess]:
    """A server that sends metrics and traces, and has been written to and read from."""
    options = {
        "metrics__reporters": "otlp,prometheus,jmx",
        "metrics__reporter__prometheus__port": "0",
        "metrics__reporter__otlp__endpoint": receiver.url,
        "metrics__reporter__otlp__interval": "1s",
        "metrics__reporter__otlp__headers": "x-tenant=blue",
        "metrics__reporter__otlp__traces__sample-ratio": "1",
    }
    with ServerProcess(tmp_path_factory.mktemp("watched") / "data", **options) as server:
        with client.connect(server.bootstrap) as conn:
            clicks = conn.create_table("fluss.clicks", "id BIGINT, url STRING", buckets=2)
            clicks.append([{"id": number, "url": "/"} for number in range(100)])
            assert clicks.scan().to_arrow().num_rows == 100
            stock = conn.create_table("fluss.stock", "item STRING, pieces INT", primary_key=["item"])
            stock.upsert([{"item": "kettle", "pieces": 7}, {"item": "lantern", "pieces": 2}])
            assert stock.lookup(["kettle"]).num_rows == 1
            with pytest.raises(LakewardError):
                conn.table("fluss.nothing")
        yield server
        assert server.stop() == 0
    assert "Traceback" not in server.log_text


def test_rows_and_bytes_are_counted_by_table(watched: ServerProcess) -> None:
    """In and out, and what is kept; lookups are keys."""
    text = scrape(watched.bootstrap)
    assert value(text, 'lakeward_table_in_rows_total{table="fluss.clicks"}') == 100
    assert value(text, 'lakeward_table_out_rows_total{table="fluss.clicks"}') == 100
    sizes = [value(text, f'lakeward_table_{way}_bytes_total{{table="fluss.clicks"}}') for way in ("in", "out")]
    assert sizes[0] == sizes[1] == value(text, 'lakeward_table_log_bytes{table="fluss.clicks"}')
    assert value(text, 'lakeward_table_in_rows_total{table="fluss.stock"}') == 2
    assert value(text, 'lakeward_table_kv_keys{table="fluss.stock"}') == 2
    assert value(text, 'lakeward_table_keys_looked_up_total{table="fluss.stock"}') == 1
    assert value(text, 'lakeward_table_snapshot_lag_rows{table="fluss.stock"}') == 2


def test_requests_have_times_and_errors(watched: ServerProcess) -> None:
    """By API, as a histogram and as quantiles; what a client was told is counted by its name."""
    text = scrape(watched.bootstrap)
    for api in ("PRODUCE_LOG", "FETCH_LOG", "LOOKUP", "PUT_KV"):
        asked = value(text, f'lakeward_requests_total{{api="{api}"}}')
        assert asked == value(text, f'lakeward_request_seconds_count{{api="{api}"}}')
        assert asked == value(text, f'lakeward_request_seconds_bucket{{api="{api}",le="+Inf"}}')
        quantiles = [
            value(text, f'lakeward_request_recent_seconds{{api="{api}",quantile="{q}"}}') for q in (0.5, 0.999)
        ]
        assert 0 < quantiles[0] <= quantiles[1]  # type: ignore[operator]
    assert value(text, 'lakeward_request_errors_total{api="GET_TABLE_INFO",error="TABLE_NOT_EXIST"}') == 1


def test_a_server_shows_every_row(watched: ServerProcess) -> None:
    """What a row promises is declared, and what is shown has a row with these labels."""
    lines = scrape(watched.bootstrap).splitlines()
    shown = {line.split()[2] for line in lines if line.startswith("# HELP")}
    promised = {row.name for table in SERVER_TABLES for row in table if not ELSEWHERE.fullmatch(row.name)}
    assert shown - {"lakeward_spans_total"} == promised
    for line in lines:
        found = re.match(r"([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? ", line)
        if found and not line.startswith("#"):
            labels = re.findall(r'([a-z_]+)="', found[2] or "")
            row = EVERY_ROW.get(found[1]) or EVERY_ROW[line.split("{")[0].split()[0]]
            assert [label for label in labels if label not in {"le", "quantile"}] == list(row.labels)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")
def test_promtool_finds_nothing_to_say(watched: ServerProcess) -> None:
    """Names, types, help and labels are as Prometheus wants them."""
    text = scrape(watched.bootstrap)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_a_table_that_is_dropped_is_shown_no_more(watched: ServerProcess) -> None:
    """Labels come and go with tables."""
    with client.connect(watched.bootstrap) as conn:
        conn.create_table("fluss.brief", "id BIGINT").append([{"id": 1}])
        assert 'table="fluss.brief"' in scrape(watched.bootstrap)
        conn.drop_table("fluss.brief")
    assert eventually(lambda: 'table="fluss.brief"' not in scrape(watched.bootstrap))


def test_metrics_have_a_port_of_their_own(watched: ServerProcess) -> None:
    """As the reporter `prometheus` of Apache Fluss has it; a reporter that we have not is told."""
    found = re.search(r"metrics are at http://(\S+)/metrics", watched.log_text)
    assert found is not None
    assert "lakeward_requests_total" in scrape(found[1])
    host, port = found[1].split(":")
    with socket.create_connection((host, int(port)), 30) as plain:
        plain.sendall(b"\x00\x00\x00\x08\x03\xe8\x00\x00\x00\x00\x00\x01\r\n\r\n")
        assert plain.recv(64).startswith(b"HTTP/1.1 400")
    assert "the reporter jmx of 'metrics.reporters' is not known here" in watched.log_text


def test_opentelemetry_gets_metrics(watched: ServerProcess, receiver: OtlpReceiver) -> None:
    """Every kind of them, decoded by the official classes."""
    wanted = "lakeward_table_in_rows_total"
    assert eventually(lambda: wanted in receiver.metrics() and len(receiver.metrics()[wanted].sum.data_points) == 2)
    found = receiver.metrics()
    rows = {attributes(point)["table"]: point.as_double for point in found[wanted].sum.data_points}
    assert rows == {"fluss.clicks": 100, "fluss.stock": 2}
    assert found[wanted].sum.is_monotonic
    assert found[wanted].sum.aggregation_temporality == 2
    assert (found["process_resident_memory_bytes"].unit, found[wanted].unit) == ("By", "{rows}")
    produced = next(
        point
        for point in found["lakeward_request_seconds"].histogram.data_points
        if attributes(point) == {"api": "PRODUCE_LOG"}
    )
    assert sum(produced.bucket_counts) == produced.count > 0
    assert len(produced.bucket_counts) == len(produced.explicit_bounds) + 1
    assert produced.start_time_unix_nano < produced.time_unix_nano
    quantiles = found["lakeward_request_recent_seconds"].summary.data_points[0].quantile_values
    assert [one.quantile for one in quantiles] == [0.5, 0.9, 0.99, 0.999]
    assert receiver.headers["x-tenant"] == "blue"
    first = next(one for one in receiver.requests if isinstance(one, ExportMetricsServiceRequest))  # spans come, too
    resource = {pair.key: pair.value.string_value for pair in first.resource_metrics[0].resource.attributes}
    assert resource["service.name"] == "lakeward"


def test_a_request_can_be_followed(watched: ServerProcess, receiver: OtlpReceiver) -> None:
    """The append to the log is a step of the request that brought the rows; so is the put."""
    assert eventually(lambda: {"PRODUCE_LOG", "PUT_KV"} <= {span.name for span in receiver.spans()})
    spans = receiver.spans()
    for request, step in (("PRODUCE_LOG", "log append"), ("PUT_KV", "kv put")):
        asked = next(span for span in spans if span.name == request)
        child = next(span for span in spans if span.parent_span_id == asked.span_id)
        assert (child.name, child.trace_id) == (step, asked.trace_id)
        assert asked.start_time_unix_nano <= child.start_time_unix_nano <= child.end_time_unix_nano
        assert child.end_time_unix_nano <= asked.end_time_unix_nano
        assert (len(asked.trace_id), len(asked.span_id), asked.parent_span_id) == (16, 8, b"")
    failed = next(span for span in spans if span.name == "GET_TABLE_INFO" and span.status.code == 2)
    assert failed.status.message == "TABLE_NOT_EXIST"
    assert attributes(failed)["enduser.id"] == "User:ANONYMOUS"


class Gateway:
    """A real push gateway."""

    def __init__(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [str(GATEWAY), f"--web.listen-address={self.address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def has(self, what: str) -> bool:
        """Whether it shows something."""
        try:
            return what in scrape(self.address)
        except OSError:
            return False

    def close(self) -> None:
        """The end."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """One that is ready."""
    if GATEWAY is None:
        pytest.skip("there is no push gateway (Debian: prometheus-pushgateway)")
    gateway = Gateway()
    try:
        assert eventually(lambda: gateway.has("go_info"))
        yield gateway
    finally:
        gateway.close()


def test_the_block_of_the_guide_pushes(gateway: Gateway, new_server: Callable[..., ServerProcess]) -> None:
    """Flink's names of the reporter, host and port are enough; what was pushed goes with the server."""
    server = new_server(
        metrics__reporter__promgateway__class="org.apache.flink.metrics.prometheus.PrometheusPushGatewayReporter",
        metrics__reporter__promgateway__host="127.0.0.1",
        metrics__reporter__promgateway__port=str(gateway.port),
        metrics__reporter__promgateway__jobName="shop",
        metrics__reporter__promgateway__groupingKey="cluster=a/b;zone=eu west",
        metrics__reporter__promgateway__interval="1 SECONDS",
    )
    assert eventually(lambda: gateway.has("lakeward_build_info"))
    text = scrape(gateway.address)
    pushed = next(line for line in text.splitlines() if line.startswith("lakeward_tables{"))
    assert re.search(r'cluster="a/b".*job="shop-[0-9a-f]{8}".*zone="eu west"', pushed)
    assert eventually(lambda: value(scrape(server.bootstrap), SENT) > 0)  # type: ignore[operator]
    assert server.stop() == 0
    assert not gateway.has("lakeward_build_info")


SENT = 'lakeward_reports_total{reporter="prometheus-push",result="sent"}'
FAILED = 'lakeward_reports_total{reporter="prometheus-push",result="failed"}'


def test_a_gateway_that_is_away_is_told_once(new_server: Callable[..., ServerProcess]) -> None:
    """The server goes on, counts what failed, and says so once; no password is in its log."""
    server = new_server(
        metrics__reporters="prometheus-push",
        **{"metrics.reporter.prometheus-push.host-url": "http://127.0.0.1:1"},
        **{"metrics.reporter.prometheus-push.push-interval": "1s"},
        **{"metrics.reporter.prometheus-push.username": "me"},
        **{"metrics.reporter.prometheus-push.password": "hush-hush"},
    )
    assert eventually(lambda: (value(scrape(server.bootstrap), FAILED) or 0) >= 2)
    assert server.stop() == 0
    assert server.log_text.count("a report to prometheus-push failed") == 1
    assert "hush-hush" not in server.log_text
    assert "Traceback" not in server.log_text


def test_an_open_port_beside_closed_listeners_is_refused(tmp_path: Path) -> None:
    """Metrics show names of tables and users: where everybody has to log in, they are not on a port of their own."""
    server = ServerProcess(
        tmp_path / "data",
        metrics__reporters="prometheus",
        security__protocol__map="FLUSS:sasl",
        security__sasl__enabled__mechanisms="PLAIN",
        **{"security.users.first": "admin:a-long-password"},
    )
    with pytest.raises(AssertionError, match="while all listeners ask who"):
        server.start()


def test_a_round_of_tiering_can_be_followed(watched: ServerProcess, receiver: OtlpReceiver, tmp_path: Path) -> None:
    """Its steps are spans of one trace, in their order."""
    tracer = Tracer(SystemClock(), SystemEntropy())
    resource = Resource("lakeward-tier", "1", "here")
    sender = SpanSender(OtlpCollector(receiver.url, 0.1, {}, resource, 0, tracer))
    warehouse = Warehouse(watched.bootstrap, tmp_path / "lake")
    with client.connect(watched.bootstrap) as conn:
        table = conn.create_table("fluss.tiered", "id BIGINT", properties=TIERED)
        table.append([{"id": 1}])
        run_round(warehouse.context(tracer=tracer), warehouse.assigned(table))
        conn.drop_table("fluss.tiered")
    warehouse.close()
    sender.close()
    whole = next(span for span in receiver.spans() if span.name == "tiering round")
    steps = [span for span in receiver.spans() if span.parent_span_id == whole.span_id]
    assert attributes(whole)["table"] == "fluss.tiered"
    assert [step.name for step in sorted(steps, key=lambda step: step.start_time_unix_nano)] == [
        *("look at the lake", "plan", "tasks", "prepare", "lake commit", "report")
    ]
    assert {step.trace_id for step in steps} == {whole.trace_id}
