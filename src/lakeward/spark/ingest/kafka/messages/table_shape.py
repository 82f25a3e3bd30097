"""TableShape: which column of a table comes from where in a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.errors import ErrorCode
from lakeward.formats.door.registry import format_of
from lakeward.formats.port import Decoder, Encoder
from lakeward.language.changes import CHANGE_TYPE
from lakeward.model.schema import Column, Schema
from lakeward.spark.ingest.kafka.ground import kafka_options as rows

#: What a message has beside its value; the second of two names is Spark's.
METADATA_KEYS = (
    *("key", "value", "topic", "partition", "offset", "timestamp"),
    *("timestamp-type", "timestampType", "headers", "leader-epoch"),
)


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns of a table by where they come from; `columns` are all of them, in order."""

    columns: tuple[Column, ...]
    metadata: Mapping[str, str]
    key: tuple[str, ...]
    value: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, schema: Schema, options: Mapping[str, str]) -> TableShape:
        """Read from the options; INVALID_CONFIG says what does not fit."""
        names = schema.names
        if value_format(options) is None:
            unknown = [name for name in names if name not in METADATA_KEYS]
            if unknown:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"Column '{unknown[0]}' is not one of Kafka's own ({', '.join(METADATA_KEYS)}): give the option"
                    f" '{rows.FORMAT.key}', such as 'json', to read columns out of messages."
                )
            return cls(schema.columns, {name: name for name in names}, (), (), dict(options))
        metadata = _metadata(options, names)
        special = {*metadata, CHANGE_TYPE, rows.ERROR_COLUMN.read(options)}
        stored = tuple(name for name in names if name not in special)
        key = _key_columns(options, stored)
        is_whole = rows.VALUE_FIELDS.read(options) == "ALL"
        if is_whole and rows.KEY_PREFIX.read(options):
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.KEY_PREFIX.key}' needs '{rows.VALUE_FIELDS.key}' = 'EXCEPT_KEY': a column with the prefix is"
                " in the key alone."
            )
        value = stored if is_whole else tuple(name for name in stored if name not in key)
        return cls(schema.columns, metadata, key, value, dict(options))

    @property
    def is_upsert(self) -> bool:
        """Whether a message without a value is a delete."""
        return rows.UPSERT.read(self.options)

    def value_schema(self) -> Schema:
        """The columns in values."""
        return Schema.of([column for column in self.columns if column.name in self.value])

    def key_schema(self) -> Schema:
        """The columns in keys, by the names that keys have for them."""
        prefix = rows.KEY_PREFIX.read(self.options)
        by_name = {column.name: column.type for column in self.columns}
        return Schema.of([(name.removeprefix(prefix), by_name[name]) for name in self.key])

    def value_decoder(self) -> Decoder | None:
        """What reads values; None where they are handed out as they are."""
        name = value_format(self.options)
        if name is None:
            return None
        return format_of(name, self.value_schema(), format_options(self.options, "value.")).decoder()

    def key_decoder(self) -> Decoder | None:
        """What reads keys; None where they hold no columns."""
        name = rows.KEY_FORMAT.read(self.options)
        if name is None or not self.key:
            return None
        return format_of(name, self.key_schema(), format_options(self.options, "key.")).decoder()

    def value_encoder(self) -> Encoder | None:
        """What writes values."""
        name = value_format(self.options)
        if name is None:
            return None
        return format_of(name, self.value_schema(), format_options(self.options, "value.")).encoder()

    def key_encoder(self) -> Encoder | None:
        """What writes keys."""
        name = rows.KEY_FORMAT.read(self.options) or value_format(self.options)
        if name is None or not self.key:
            return None
        return format_of(name, self.key_schema(), format_options(self.options, "key.")).encoder()


def value_format(options: Mapping[str, str]) -> str | None:
    """The name of the format of values."""
    return rows.VALUE_FORMAT.read(options) or rows.FORMAT.read(options)


def format_options(options: Mapping[str, str], side: str) -> dict[str, str]:
    """Those of formats, as the format of keys or of values sees them."""
    plain = {key: value for key, value in options.items() if key.startswith(rows.FORMAT_PREFIXES)}
    own = {key.removeprefix(side): value for key, value in options.items() if key.startswith(side)}
    return {**plain, **{key: value for key, value in own.items() if key.startswith(rows.FORMAT_PREFIXES)}}


def _metadata(options: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in rows.METADATA.read(options) or ():
        key, _, column = entry.partition(":")
        if key not in METADATA_KEYS:
            raise ErrorCode.INVALID_CONFIG.error(
                f"There is no METADATA '{key}' of Kafka; there are {', '.join(METADATA_KEYS)}."
            )
        if (column or key) in names:
            found[column or key] = key
    return found


def _key_columns(options: Mapping[str, str], stored: tuple[str, ...]) -> tuple[str, ...]:
    key, prefix = rows.KEY_FIELDS.read(options) or (), rows.KEY_PREFIX.read(options)
    for name in key:
        if name not in stored:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.KEY_FIELDS.key}' names '{name}', and the table has no such column; it has {', '.join(stored)}."
            )
        if not name.startswith(prefix):
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.KEY_FIELDS.key}' names '{name}', which does not begin with '{prefix}'"
                f" ('{rows.KEY_PREFIX.key}')."
            )
    return key
