"""Rows about the process. Names without `lakeward_` are those that Prometheus' own libraries use."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

PROCESS_ROWS = MetricTable("The process", "Shown by the server.")
_counter, _gauge = PROCESS_ROWS.counter, PROCESS_ROWS.gauge
_DELAY_BOUNDS = (1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

BUILD_INFO = _gauge(
    "lakeward_build_info",
    "1",
    "Always 1; the labels say which version runs, on which Python.",
    "After an upgrade every server should show the same.",
    ("version", "python"),
)
LOOP_DELAY = PROCESS_ROWS.histogram(
    "lakeward_event_loop_delay_seconds",
    "seconds",
    _DELAY_BOUNDS,
    "How late the event loop did what was due, looked at ten times a second.",
    "Beyond 50 ms something holds the loop, and every client waits: CPU is short, or one request is too large.",
)
CPU_SECONDS = _counter(
    "process_cpu_seconds_total",
    "seconds",
    "CPU time of the process, user and system.",
    "Near one core for long: the event loop is one thread; spread tables over more servers.",
)
RESIDENT_BYTES = _gauge(
    "process_resident_memory_bytes",
    "bytes",
    "Memory of the process that is in RAM.",
    "If it grows without end: look at keys and bytes of states, at connections, and at the log.",
)
VIRTUAL_BYTES = _gauge(
    "process_virtual_memory_bytes",
    "bytes",
    "Addresses that the process has mapped.",
    "Much larger than what is in RAM, which is harmless.",
)
OPEN_FILES = _gauge(
    "process_open_fds",
    "files",
    "Open file descriptors: connections, logs, everything.",
    "Near the limit connections are refused: raise `ulimit -n`.",
)
FILES_MAX = _gauge(
    "process_max_fds",
    "files",
    "How many file descriptors the process may have open.",
    "Below some 10,000 is little for a server.",
)
START_TIME = _gauge(
    "process_start_time_seconds",
    "seconds",
    "When the process was started, in seconds since 1970.",
    "If it changes without anybody having done it, look into the log for why it ended.",
)
