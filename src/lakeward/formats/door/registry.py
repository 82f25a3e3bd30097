"""Formats by name: `format_of("json", schema, options)` reads and writes the rows of a schema.

Options are those of a table, under their full names (`json.ignore-parse-errors`); others than the format's own are
nobody's business here. A table that has formats as options takes the rows of FORMAT_OPTIONS.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from lakeward.errors import ErrorCode
from lakeward.formats.avro.avro_codec import AvroCodec
from lakeward.formats.avro.avro_options import AVRO_OPTIONS
from lakeward.formats.avro.confluent_codec import ConfluentCodec
from lakeward.formats.changes.canal_json import CanalJsonDecoder
from lakeward.formats.changes.change_encoder import ChangeEncoder
from lakeward.formats.changes.change_options import CHANGE_OPTIONS
from lakeward.formats.changes.debezium_json import DebeziumJsonDecoder
from lakeward.formats.csv.csv_decoder import CsvDecoder
from lakeward.formats.csv.csv_encoder import CsvEncoder
from lakeward.formats.csv.csv_options import CSV_OPTIONS, CsvSettings
from lakeward.formats.json.json_decoder import JsonDecoder
from lakeward.formats.json.json_encoder import JsonEncoder
from lakeward.formats.json.json_options import JSON_OPTIONS, JsonSettings
from lakeward.formats.port import Decoder, Encoder
from lakeward.formats.raw.raw_codec import RawCodec
from lakeward.formats.raw.raw_options import RAW_OPTIONS
from lakeward.model.schema import Schema
from lakeward.options.option import OptionTable, Scope

Options = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Format:
    """A format for the rows of one schema."""

    name: str
    schema: Schema
    options: Options = field(repr=False)  # there are secrets among them

    def decoder(self) -> Decoder:
        """What reads messages."""
        return _KINDS[self.name].decoder(self.schema, self.options)

    def encoder(self) -> Encoder:
        """What writes messages."""
        return _KINDS[self.name].encoder(self.schema, self.options)


@dataclass(frozen=True, slots=True)
class _Kind:
    decoder: Callable[[Schema, Options], Decoder]
    encoder: Callable[[Schema, Options], Encoder]


_KINDS = {
    "json": _Kind(
        lambda schema, options: JsonDecoder(schema, JsonSettings.of(options)),
        lambda schema, options: JsonEncoder(schema, JsonSettings.of(options)),
    ),
    "csv": _Kind(
        lambda schema, options: CsvDecoder(schema, CsvSettings.of(options)),
        lambda schema, options: CsvEncoder(schema, CsvSettings.of(options)),
    ),
    "raw": _Kind(RawCodec, RawCodec),
    "avro": _Kind(AvroCodec, AvroCodec),
    "avro-confluent": _Kind(ConfluentCodec, ConfluentCodec),
    "debezium-json": _Kind(DebeziumJsonDecoder, partial(ChangeEncoder, "debezium-json")),
    "canal-json": _Kind(CanalJsonDecoder, partial(ChangeEncoder, "canal-json")),
}

FORMAT_NAMES = tuple(_KINDS)
FORMAT_OPTIONS = OptionTable(Scope.CONNECTOR)
for _table in (JSON_OPTIONS, CSV_OPTIONS, RAW_OPTIONS, AVRO_OPTIONS, CHANGE_OPTIONS):
    FORMAT_OPTIONS.adopt(_table)


def format_of(name: str, schema: Schema, options: Options) -> Format:
    """The format of that name; options of it that cannot be read are refused."""
    if name not in _KINDS:
        close = difflib.get_close_matches(name, FORMAT_NAMES, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ErrorCode.INVALID_CONFIG.error(f"There is no format '{name}'; there are {', '.join(FORMAT_NAMES)}.{hint}")
    own = dict(FORMAT_OPTIONS.canonical(key, value) for key, value in options.items() if key.startswith(f"{name}."))
    FORMAT_OPTIONS.check(own)
    return Format(name, schema, {**options, **own})
