"""Rows for metrics and traces: what is shown, and where it is sent.

Names are those of Apache Fluss; `metrics.reporter.promgateway.*` are Flink's, which older guides have.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.kinds import COUNT, DURATION, LIST, RATIO, TEXT, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.options.secrets import has_user_info

PROMETHEUS, PUSH, OTLP = "prometheus", "prometheus-push", "otlp"
_SECOND_MS = 1000

METRICS_OPTIONS = OptionTable(Scope.SERVER)
_row, _optional, _switch = METRICS_OPTIONS.row, METRICS_OPTIONS.optional, METRICS_OPTIONS.switch

TABLES_MAX = _row(
    "metrics.tables.max",
    COUNT,
    2000,
    "Tables that metrics show one by one; those created later are shown together (Lakeward).",
)
REPORTERS = _row(
    "metrics.reporters",
    LIST,
    (),
    "Where metrics go beside `GET /metrics`: `prometheus` (a port of their own), `prometheus-push`, `otlp` (Lakeward).",
)
PROMETHEUS_PORT = _row(
    "metrics.reporter.prometheus.port", TEXT, "9249", "Port of the reporter `prometheus`, or a range to take one of."
)
PUSH_URL = _optional(
    "metrics.reporter.prometheus-push.host-url", TEXT, "Push gateway of the reporter `prometheus-push`, as a URL."
)
PUSH_JOB = _row("metrics.reporter.prometheus-push.job-name", TEXT, "lakeward", "Job under which metrics are pushed.")
PUSH_INTERVAL = _row(
    "metrics.reporter.prometheus-push.push-interval", DURATION, 10 * _SECOND_MS, "How often metrics are pushed."
)
PUSH_SUFFIX = _switch(
    "metrics.reporter.prometheus-push.random-job-name-suffix",
    "Whether the job's name ends in something random, so that several servers do not overwrite each other.",
    default=True,
)
PUSH_DELETE = _switch(
    "metrics.reporter.prometheus-push.delete-on-shutdown",
    "Whether the pushed metrics are deleted when the server stops.",
    default=True,
)
PUSH_GROUPING = _row(
    "metrics.reporter.prometheus-push.grouping-key", TEXT, "", "Labels of all that is pushed, `k1=v1;k2=v2`."
)
PUSH_USER = _optional("metrics.reporter.prometheus-push.username", TEXT, "Name to log in with at the push gateway.")
PUSH_PASSWORD = _optional(
    "metrics.reporter.prometheus-push.password",
    TEXT,
    "Password for the push gateway, or where it is kept: `${env:NAME}`, `file:/path`.",
    secret=True,
)
GATEWAY_CLASS = _optional(
    "metrics.reporter.promgateway.class",
    TEXT,
    "Flink's name of its reporter for a push gateway; set, metrics are pushed to the two below.",
)
GATEWAY_HOST = _optional("metrics.reporter.promgateway.host", TEXT, "Host of the push gateway.")
GATEWAY_PORT = _row("metrics.reporter.promgateway.port", integer(low=1, high=65535), 9091, "Port of the push gateway.")
OTLP_ENDPOINT = _optional(
    "metrics.reporter.otlp.endpoint",
    TEXT,
    "Collector of OpenTelemetry that metrics and traces are sent to by HTTP, such as http://localhost:4318 (Lakeward).",
)
OTLP_INTERVAL = _row(
    "metrics.reporter.otlp.interval", DURATION, 10 * _SECOND_MS, "How often metrics and traces are sent (Lakeward)."
)
OTLP_HEADERS = _optional(
    "metrics.reporter.otlp.headers",
    TEXT,
    "Headers for the collector, `name=value,name=value`; may be a secret, or where it is kept (Lakeward).",
    secret=True,
)
OTLP_SERVICE = _row("metrics.reporter.otlp.service-name", TEXT, "lakeward", "Name of the service there (Lakeward).")
TRACE_RATIO = _row(
    "metrics.reporter.otlp.traces.sample-ratio",
    RATIO,
    0.0,
    "Share of requests that are followed by a trace; 0 follows none, and costs nothing (Lakeward).",
)
for _old, _option in (
    ("metrics.reporter.promgateway.factory.class", GATEWAY_CLASS),
    ("metrics.reporter.promgateway.hostUrl", PUSH_URL),
    ("metrics.reporter.promgateway.jobName", PUSH_JOB),
    ("metrics.reporter.promgateway.interval", PUSH_INTERVAL),
    ("metrics.reporter.promgateway.randomJobNameSuffix", PUSH_SUFFIX),
    ("metrics.reporter.promgateway.deleteOnShutdown", PUSH_DELETE),
    ("metrics.reporter.promgateway.groupingKey", PUSH_GROUPING),
):
    METRICS_OPTIONS.alias(_old, _option)
METRICS_OPTIONS.inert("metrics.reporter.promgateway.filterLabelValueCharacters")
for _name in (PROMETHEUS, PUSH):
    METRICS_OPTIONS.inert(f"metrics.reporter.{_name}.filter.includes")
    METRICS_OPTIONS.inert(f"metrics.reporter.{_name}.filter.excludes")

_OBEYED = (*(f"metrics.reporter.{name}." for name in (PROMETHEUS, PUSH, OTLP)), "metrics.reporter.promgateway.")
_GATEWAY_CLASSES = ("PrometheusPushGatewayReporter", "PrometheusPushGatewayReporterFactory")


def reporters_of(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The reporters that are asked for, also by Flink's name of one, or by a share of traces."""
    names = list(dict.fromkeys(one.strip() for one in REPORTERS.read(settings) if one.strip()))
    if GATEWAY_CLASS.read(settings) is not None and PUSH not in names:
        names.append(PUSH)
    if TRACE_RATIO.read(settings) > 0 and OTLP not in names:
        names.append(OTLP)
    return tuple(names)


def push_url_of(settings: Mapping[str, str]) -> str | None:
    """Where the push gateway is; None when nobody said."""
    url, host = PUSH_URL.read(settings), GATEWAY_HOST.read(settings)
    return url or (None if host is None else f"http://{host}:{GATEWAY_PORT.read(settings)}")


def check_reporters(settings: Mapping[str, str]) -> None:
    """Refuse what would silently send nothing: misspelt names, unknown classes, no address."""
    for key in settings:
        if key.startswith(_OBEYED) and key not in METRICS_OPTIONS.rows:
            raise METRICS_OPTIONS.unknown(key)
    asked_class = GATEWAY_CLASS.read(settings)
    if asked_class is not None and not asked_class.endswith(_GATEWAY_CLASSES):
        raise _wrong(
            f"'{GATEWAY_CLASS.key}' names {asked_class[:120]}, which is not known here; a push gateway's is"
            f" org.apache.flink.metrics.prometheus.{_GATEWAY_CLASSES[0]}."
        )
    names = reporters_of(settings)
    if PUSH in names:
        _check_place(PUSH_URL.key, push_url_of(settings), f"or '{GATEWAY_HOST.key}' and '{GATEWAY_PORT.key}'")
    if OTLP in names:
        _check_place(OTLP_ENDPOINT.key, OTLP_ENDPOINT.read(settings), "such as http://localhost:4318")
    for interval in (PUSH_INTERVAL, OTLP_INTERVAL):
        if interval.read(settings) < _SECOND_MS:
            raise _wrong(f"'{interval.key}' is shorter than a second, which no gateway is made for.")


def _check_place(key: str, url: str | None, instead: str) -> None:
    if url is None:
        raise _wrong(f"A reporter is asked for that has no address: set '{key}', {instead}.")
    check_url(key, url)


def check_url(key: str, url: str) -> None:
    """Refuse what is no address, and one that holds a password; `key` is where it was written."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise _wrong(f"'{key}' is not a URL such as http://host:4318.")
    if has_user_info(url):
        raise _wrong(f"'{key}' holds a user or a password, which logs would show. They have options of their own.")


def _wrong(why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(why)
