"""Which reporters the options of a server ask for."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.options import metrics as rows
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.secret_text import SecretText
from lakeward.telemetry.otlp.resource import Resource
from lakeward.telemetry.reporter import Reporter
from lakeward.telemetry.reporters.otlp_collector import OtlpCollector
from lakeward.telemetry.reporters.push_gateway import PushGateway, group_url
from lakeward.telemetry.tracing.tracer import Tracer


def reporters_for(
    options: ServerOptions, instance: str, version: str, now_ms: int, tracer: Tracer | None
) -> list[Reporter]:
    """Those that are sent something; `instance` is what tells this server from others."""
    asked = rows.reporters_of(options.texts)
    found: list[Reporter] = []
    if rows.PUSH in asked:
        found.append(_push_gateway(options, instance))
    if rows.OTLP in asked:
        resource = Resource(options.get(rows.OTLP_SERVICE), version, instance)
        interval_s = options.get(rows.OTLP_INTERVAL) / 1000
        endpoint = options.get(rows.OTLP_ENDPOINT)
        assert endpoint is not None
        found.append(OtlpCollector(endpoint, interval_s, _otlp_headers(options), resource, now_ms, tracer))
    return found


def unknown_reporters(options: ServerOptions) -> list[str]:
    """Reporters that Apache Fluss may have and we have not."""
    known = (rows.PROMETHEUS, rows.PUSH, rows.OTLP)
    return [name for name in rows.reporters_of(options.texts) if name not in known]


def _push_gateway(options: ServerOptions, instance: str) -> PushGateway:
    base = rows.push_url_of(options.texts)
    assert base is not None
    job = options.get(rows.PUSH_JOB)
    if options.get(rows.PUSH_SUFFIX):
        job = f"{job}-{instance}"
    url = group_url(base, job, _pairs(rows.PUSH_GROUPING.key, options.get(rows.PUSH_GROUPING), ";"))
    interval_s = options.get(rows.PUSH_INTERVAL) / 1000
    return PushGateway(url, interval_s, _login(options), deletes=options.get(rows.PUSH_DELETE))


def _login(options: ServerOptions) -> dict[str, str]:
    user = options.get(rows.PUSH_USER)
    if user is None:
        return {}
    password = SecretText(rows.PUSH_PASSWORD.key, options.get(rows.PUSH_PASSWORD) or "").reveal()
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _otlp_headers(options: ServerOptions) -> Mapping[str, str]:
    key = rows.OTLP_HEADERS.key
    return _pairs(key, SecretText(key, options.get(rows.OTLP_HEADERS) or "").reveal(), ",")


def _pairs(key: str, text: str, between: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in filter(None, (part.strip() for part in text.split(between))):
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise ErrorCode.INVALID_CONFIG.error(f"'{key}' is not written name=value{between}name=value.")
        found[name.strip()] = value.strip()
    return found
