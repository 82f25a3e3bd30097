"""What is answered here, for readers that ask first."""

from __future__ import annotations

_NAMESPACE = "/v1/{prefix}/namespaces/{namespace}"
_TABLE = f"{_NAMESPACE}/tables/{{table}}"

READ_ENDPOINTS = (
    "GET /v1/{prefix}/namespaces",
    f"GET {_NAMESPACE}",
    f"HEAD {_NAMESPACE}",
    f"GET {_NAMESPACE}/tables",
    f"GET {_TABLE}",
    f"HEAD {_TABLE}",
    f"POST {_TABLE}/metrics",
)

WRITE_ENDPOINTS = (
    "POST /v1/{prefix}/namespaces",
    f"DELETE {_NAMESPACE}",
    f"POST {_NAMESPACE}/properties",
    f"POST {_NAMESPACE}/tables",
    f"POST {_TABLE}",
    f"DELETE {_TABLE}",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit",
)
