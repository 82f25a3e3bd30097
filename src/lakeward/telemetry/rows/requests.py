"""Rows about requests and connections."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

REQUEST_ROWS = MetricTable("Requests and connections", "Shown by the server.")
_counter, _gauge = REQUEST_ROWS.counter, REQUEST_ROWS.gauge
_LATENCY_BOUNDS = (1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_QUANTILES = (0.5, 0.9, 0.99, 0.999)

REQUESTS = _counter(
    "lakeward_requests_total",
    "requests",
    "Requests by API.",
    "Its rate is the load; a rate that falls to nothing means that clients are gone or cannot connect.",
    ("api",),
)
REQUEST_ERRORS = _counter(
    "lakeward_request_errors_total",
    "errors",
    "Errors that clients were told, by API and error; a request about several buckets may count several.",
    "The name of the error says what is wrong; the client's message says what to do. Some are part of ordinary life,"
    " such as asking for a table that is gone.",
    ("api", "error"),
)
REQUEST_SECONDS = REQUEST_ROWS.histogram(
    "lakeward_request_seconds",
    "seconds",
    _LATENCY_BOUNDS,
    "Time from a whole request to its answer, by API; a fetch that waits for rows counts from when they came.",
    "If it grows with the load, look at the event loop's delay, CPU and disk; if it grows alone, at that API's tables.",
    ("api",),
)
REQUEST_QUANTILES = REQUEST_ROWS.summary(
    "lakeward_request_recent_seconds",
    "seconds",
    _QUANTILES,
    "The same time in the last minute or two, as quantiles that are right to within 8 %; no number where none came.",
    "Use it to look at one server; across servers only the histogram can be added up.",
    ("api",),
)
CONNECTIONS = _gauge(
    "lakeward_connections",
    "connections",
    "Open client connections.",
    "If it only grows, clients do not close theirs; 'netty.server.max-connections' is the bound.",
)
CONNECTIONS_ACCEPTED = _counter(
    "lakeward_connections_accepted_total",
    "connections",
    "Connections that were let in.",
    "A high rate means that clients connect for every request; they should keep a connection.",
)
CONNECTIONS_REFUSED = _counter(
    "lakeward_connections_refused_total",
    "connections",
    "Connections that were closed at once, because there were too many.",
    "Raise 'netty.server.max-connections' or the limit of open files, or find the client that opens so many.",
)
FETCHES_WAITING = _gauge(
    "lakeward_fetches_waiting",
    "requests",
    "Fetches that wait for rows.",
    "Readers that are up to date wait here; nothing is wrong with many.",
)
RECEIVE_BYTES = _gauge(
    "lakeward_receive_memory_bytes",
    "bytes",
    "Memory that holds requests which have not been answered.",
    "Near 'netty.server.max-receive-memory' clients wait for each other; raise it, or let them send less at a time.",
)
