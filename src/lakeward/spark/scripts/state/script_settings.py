"""What SET can say: a row each; `spark.…` is Spark's, and names of Flink that mean nothing here are told so."""

from __future__ import annotations

import enum
import re
import zoneinfo
from collections.abc import Mapping
from difflib import get_close_matches

from lakeward.errors import ErrorCode
from lakeward.options.kinds import COUNT, DURATION, TEXT, Kind, choice
from lakeward.options.option import OptionTable, Scope

SCRIPT_OPTIONS = OptionTable(Scope.SCRIPT)

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?[+-]\d{1,2}(?::?\d{2})?(?::?\d{2})?|Z")


def _parse_zone(text: str) -> str:
    known = zoneinfo.available_timezones()
    if _OFFSET.fullmatch(text) or text in known or not known:
        return text
    near = get_close_matches(text, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ", such as 'Europe/Berlin', 'UTC' or '+02:00'"
    raise ValueError(f"'{text}' is no time zone{hint}")


ZONE = Kind("time zone", _parse_zone)

RUNTIME_MODE = SCRIPT_OPTIONS.row(
    "execution.runtime-mode",
    choice("automatic", "streaming", "batch"),
    "automatic",
    "What a query reads: the rows there are and all that come, or those there are now. By itself an INSERT streams and "
    "a SELECT is answered once.",
)
PIPELINE_NAME = SCRIPT_OPTIONS.optional(
    "pipeline.name", TEXT, "The name of the jobs that are started from here on; without it, one of sink and text."
)
CHECKPOINTS = SCRIPT_OPTIONS.optional(
    "execution.checkpointing.dir", TEXT, "Where checkpoints of jobs are, a directory or a URI of Spark's."
)
INTERVAL = SCRIPT_OPTIONS.optional(
    "execution.checkpointing.interval", DURATION, "How often a job writes; without it, as soon as there are rows."
)
TIME_ZONE = SCRIPT_OPTIONS.optional(
    "table.local-time-zone", ZONE, "The time zone of TIMESTAMP_LTZ as text, and of the clock: `Europe/Berlin`, `UTC`."
)
PARALLELISM = SCRIPT_OPTIONS.optional(
    "parallelism.default", COUNT, "Into how many parts rows are cut where they are grouped or joined."
)
DML_SYNC = SCRIPT_OPTIONS.switch(
    "table.dml-sync", "Whether an INSERT that streams is waited for before the next statement; only for one that ends."
)
SCRIPT_OPTIONS.alias("state.checkpoints.dir", CHECKPOINTS)
SCRIPT_OPTIONS.alias("execution.checkpointing.storage.dir", CHECKPOINTS)

_OF_SPARK = "spark."
#: What others set for engines of theirs; here it is heard and told to mean nothing.
_WITHOUT_EFFECT = (
    *("table.exec.", "table.optimizer.", "table.plan.", "table.display.", "table.sql-dialect", "sql-client."),
    *("taskmanager.", "jobmanager.", "state.", "restart-strategy", "execution.", "pipeline.", "parallelism."),
    *("rest.", "cluster.", "heartbeat.", "metrics.", "env.", "yarn.", "kubernetes.", "high-availability"),
)
#: How much a name must have in common with one of ours to be a misspelling of it.
_MISSPELT = 0.9
_SPARK_OF = {TIME_ZONE.key: "spark.sql.session.timeZone", PARALLELISM.key: "spark.sql.shuffle.partitions"}


class Mode(enum.StrEnum):
    """How queries are read."""

    AUTOMATIC = "automatic"
    STREAMING = "streaming"
    BATCH = "batch"


class ScriptSettings:
    """The settings of one script."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        self.changed: dict[str, str] = {}
        """Settings of Spark that follow from these."""
        for key, value in (given or {}).items():
            self.set(key, value)

    def set(self, key: str, value: str) -> str | None:
        """Take a setting; a sentence where it means nothing here."""
        if key.startswith(_OF_SPARK):
            self.changed[key] = self._values[key] = value
            return None
        if key.lower() == RUNTIME_MODE.key:
            value = value.lower()
        name, text = SCRIPT_OPTIONS.canonical(key, value)
        row = SCRIPT_OPTIONS.rows.get(name)
        if row is None:
            is_misspelt = bool(get_close_matches(key, [*SCRIPT_OPTIONS.rows, *SCRIPT_OPTIONS.aliases], 1, _MISSPELT))
            if key.startswith(_WITHOUT_EFFECT) and not is_misspelt:
                self._values[key] = value
                return f"'{key}' has no effect here.{SCRIPT_OPTIONS.nearest(key)}"
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{key}' is no setting of scripts.{SCRIPT_OPTIONS.nearest(key)} Settings of Spark begin with 'spark.'."
            )
        row.parse(text)
        self._values[name] = text
        if name in _SPARK_OF:
            self.changed[_SPARK_OF[name]] = text
        return None

    def reset(self, key: str | None) -> list[str]:
        """Forget one setting, or all; the settings of Spark that are to be as they were."""
        gone = [key] if key is not None else list(self._values)
        spark = []
        for one in gone:
            name = one if one.startswith(_OF_SPARK) else SCRIPT_OPTIONS.canonical_key(one)
            if self._values.pop(name, None) is not None and (name.startswith(_OF_SPARK) or name in _SPARK_OF):
                spark.append(_SPARK_OF.get(name, name))
        for one in spark:
            self.changed.pop(one, None)
        return spark

    @property
    def all(self) -> dict[str, str]:
        """What was set, by name."""
        return dict(sorted(self._values.items()))

    @property
    def mode(self) -> Mode:
        """How queries are read."""
        return Mode(RUNTIME_MODE.read(self._values))

    @property
    def job_name(self) -> str | None:
        """The name of jobs."""
        return PIPELINE_NAME.read(self._values)

    @property
    def checkpoints(self) -> str | None:
        """Where checkpoints are."""
        return CHECKPOINTS.read(self._values)

    @property
    def interval_ms(self) -> int | None:
        """How often a job writes."""
        return INTERVAL.read(self._values)

    @property
    def waits(self) -> bool:
        """Whether an INSERT is waited for."""
        return DML_SYNC.read(self._values)
