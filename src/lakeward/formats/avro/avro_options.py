"""Rows of the formats `avro` and `avro-confluent`, by the names that other systems have for them."""

from __future__ import annotations

from lakeward.options.kinds import TEXT, choice
from lakeward.options.option import OptionTable, Scope

AVRO_OPTIONS = OptionTable(Scope.CONNECTOR)
_optional, _row, _switch, _inert = AVRO_OPTIONS.optional, AVRO_OPTIONS.row, AVRO_OPTIONS.switch, AVRO_OPTIONS.inert

_LEGACY = (
    "Whether a TIMESTAMP is written as `timestamp-millis` or `-micros`, as others do by default; else as `local-…`."
)
LEGACY_TIMES = {
    name: _switch(f"{name}.timestamp_mapping.legacy", _LEGACY, default=True) for name in ("avro", "avro-confluent")
}
ENCODING = _row("avro.encoding", choice("binary"), "binary", "How records are written.")
_inert("avro.codec")

URL = _optional("avro-confluent.url", TEXT, "Where the schema registry is: `http://localhost:8081`. Always needed.")
AVRO_OPTIONS.alias("avro-confluent.schema-registry.url", URL)
SUBJECT = _optional(
    "avro-confluent.subject",
    TEXT,
    "Under which name the schema is registered when rows are written; without it, the topic and `-value`.",
)
AVRO_OPTIONS.alias("avro-confluent.schema-registry.subject", SUBJECT)
USER_INFO = _optional(
    "avro-confluent.basic-auth.user-info", TEXT, "Name and password for the registry, as `name:password`.", secret=True
)
TOKEN = _optional("avro-confluent.bearer-auth.token", TEXT, "A token for the registry.", secret=True)
CA_FILE = _optional(
    "avro-confluent.ssl.ca.location", TEXT, "A file with the certificates to trust, where the registry is `https`."
)
_inert("avro-confluent.basic-auth.credentials-source")
_inert("avro-confluent.bearer-auth.credentials-source")
