"""Rows about who comes, what they may, and how much they do."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

SECURITY_ROWS = MetricTable("Security", "Shown by the server.")
_counter, _gauge = SECURITY_ROWS.counter, SECURITY_ROWS.gauge

LOGINS = _counter(
    "lakeward_logins_total",
    "logins",
    "Logins by mechanism and result, `let in` or `refused`.",
    "Many that are refused: a password has changed, or somebody tries many. The audit log has their addresses.",
    ("mechanism", "result"),
)
PRINCIPAL_REQUESTS = _counter(
    "lakeward_principal_requests_total",
    "requests",
    "Requests by principal and API; those beyond 2,000 principals are counted together.",
    "Who takes more than their share can be given a quota.",
    ("principal", "api"),
)
PRINCIPAL_REQUEST_BYTES = _counter(
    "lakeward_principal_request_bytes_total",
    "bytes",
    "Bytes of requests by principal.",
    "As above.",
    ("principal",),
)
PRINCIPAL_RESPONSE_BYTES = _counter(
    "lakeward_principal_response_bytes_total",
    "bytes",
    "Bytes of answers by principal.",
    "As above.",
    ("principal",),
)
AUDIT_LOST = _counter(
    "lakeward_audit_lost_total",
    "lines",
    "Lines of the audit log that could not be written.",
    "Must be 0: look at the disk, and at who owns the file.",
)
ACLS = _gauge("lakeward_acls", "grants", "Grants there are.", "Nothing; `lakeward acls list` shows them.")
