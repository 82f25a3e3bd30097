"""CaptureOptions: what the options of a data source say, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.capture.databases import DatabaseKind
from lakeward.capture.port import Database
from lakeward.capture.stream import CaptureStream
from lakeward.capture.stream_options import stream_settings
from lakeward.errors import ErrorCode
from lakeward.options.kinds import INT64_MAX, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.options.spark import SPARK_OWN
from lakeward.runtime.clock import SystemClock

SOURCE_OPTIONS = OptionTable(Scope.CONNECTOR)
ROWS, ENVELOPES = "rows", "envelopes"
FORM = SOURCE_OPTIONS.row(
    "form",
    choice(ROWS, ENVELOPES),
    ROWS,
    "What comes: rows of a table with `_change_type` before its columns, or envelopes of many tables.",
)
MAX_ROWS = SOURCE_OPTIONS.optional(
    "maxRowsPerTrigger", integer(low=1, high=INT64_MAX), "Rows one micro-batch reads at most, about."
)
PARALLELISM = SOURCE_OPTIONS.row(
    "scan.parallelism", integer(low=1), 4, "Tasks that copy a table at once; changes are read by one, in their order."
)
METADATA = SOURCE_OPTIONS.row(
    "metadata",
    TEXT,
    "",
    "Columns that are not the table's, as `column=key` with commas between: `database_name`, `schema_name`,"
    " `table_name`.",
)
_SPARK_OWN = frozenset(name.lower() for name in SPARK_OWN)


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """Options of one data source."""

    kind: DatabaseKind
    #: May hold secrets.
    given: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, kind: DatabaseKind, given: Mapping[str, str]) -> CaptureOptions:
        """Options under their own names, checked; Spark does not keep the case of names."""
        known = kind.options()
        known.adopt(SOURCE_OPTIONS, without=known.rows)
        by_lower = {name.lower(): name for name in (*known.rows, *known.aliases)}
        options: dict[str, str] = {}
        for key, value in given.items():
            if key.lower() in _SPARK_OWN:
                continue
            name, text = known.canonical(by_lower.get(key.lower(), key), str(value))
            if options.get(name, text) != text:
                raise ErrorCode.INVALID_CONFIG.error(f"The option '{name}' is given twice, with different values.")
            options[name] = text
        known.check(options)
        stream_settings(options)
        return cls(kind, options)

    @property
    def is_of_envelopes(self) -> bool:
        """Whether envelopes come."""
        return FORM.read(self.given) == ENVELOPES

    @property
    def tasks(self) -> int:
        """How many tasks copy at once."""
        return PARALLELISM.read(self.given)

    @property
    def rows_max(self) -> int | None:
        """Rows of a micro-batch."""
        return MAX_ROWS.read(self.given)

    @property
    def metadata(self) -> dict[str, str]:
        """Columns that are not the table's, and what they hold."""
        pairs = (pair.partition("=") for pair in METADATA.read(self.given).split(",") if pair)
        return {column.strip(): key.strip() for column, _, key in pairs}

    @property
    def database_name(self) -> str | None:
        """The database, where tables are in schemas of one."""
        return self.given.get("database-name") if self.kind is DatabaseKind.POSTGRES else None

    def open(self, *, is_expected: bool = True) -> Database:
        """The database."""
        return self.kind.open(self.given, is_expected=is_expected)

    def stream_of(self, database: Database) -> CaptureStream:
        """A stream of a database that was opened."""
        return CaptureStream(database, stream_settings(self.given), SystemClock())
