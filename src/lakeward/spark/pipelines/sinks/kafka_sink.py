"""KafkaSink: a message for each change, in a topic for each table.

Tasks make the messages and keep them; the driver sends those of a micro-batch as one transaction, whose number is
kept with it, so that a batch that comes again is not sent again. At least once, the driver only sends them.

Changes say which table they are of. Where several tables share a topic their keys say it too: rows of two tables with
the same key would otherwise be one row to a compacted topic.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.formats.changes.change_encoder import ChangeEncoder
from lakeward.formats.changes.table_origin import TableOrigin
from lakeward.formats.door.registry import format_of
from lakeward.formats.port import Encoder
from lakeward.model.schema import Schema
from lakeward.pipelines.changes import to_upserts
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.evolution import Evolution
from lakeward.pipelines.plan import TablePlan
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.topics import make_topics, missing_topics
from lakeward.spark.ingest.kafka.messages.records import Records
from lakeward.spark.ingest.kafka.sending import Sending, Transaction, can_transact
from lakeward.spark.pipelines.sinks.port import Part
from lakeward.spark.pipelines.sinks.staged_rows import StagedRows, forget_staged, staged_batches
from lakeward.spark.scripts.jobs.job_home import local_path

_FORMAT, _FORMAT_DEFAULT = "value.format", "debezium-json"
_GUARANTEE, _TOPIC = "delivery.guarantee", "topic"
_AUTO, _EXACTLY, _AT_LEAST = "auto", "exactly-once", "at-least-once"
_PREFIX = "transactional.id.prefix"
_AWAY_S = 300.0
_TIMEOUT_MS = 60_000
_KEY, _VALUE = "key", "value"
#: What names the table in a key, as Flink CDC has it.
_TABLE_ID = "TableId"


class KafkaSink:
    """One cluster of brokers."""

    def __init__(self, definition: PipelineDefinition, name: str, staging: str) -> None:
        options = definition.sink.options
        self._options = dict(options)
        self._database = definition.source.options["database-name"] if definition.source.type == "postgres" else None
        self._is_shared = _TOPIC in options and not definition.is_of_one_table
        self._name = f"{options.get(_PREFIX, 'lakeward')}-{name}"
        self._staging = staging
        self._is_exact = options.get(_GUARANTEE, _AUTO) != _AT_LEAST
        self._anchor = options.get(_TOPIC, "")
        self._made: set[str] = set()

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool = False) -> list[str]:
        """Make the topics that are missing; what is sent, and how surely, is told."""
        del has_begun
        self._decide()
        how = "exactly once" if self._is_exact else "at least once: after a failure some may come twice"
        topics = sorted({self.topic(plan) for plan in plans})
        self._anchor = self._anchor or topics[0]
        unkeyed = [str(plan.source.id) for plan in plans if not plan.is_keyed]
        if unkeyed and self._format == "json":
            raise ErrorCode.INVALID_CONFIG.error(
                f"{', '.join(unkeyed)}: without a primary key, changes cannot be written as json; use debezium-json."
            )
        missing = missing_topics(self._config(), topics)
        if makes:
            make_topics(self._config(), missing)
            self._made |= set(topics)
        told = f"{'Made' if makes else 'To be made'}, with as many partitions as the brokers give: {', '.join(missing)}"
        return [f"Changes go to {', '.join(topics)} as {self._format}, {how}", *([told] if missing else [])]

    def _decide(self) -> None:
        """Whether a micro-batch is a transaction, where nobody insists on it."""
        if not self._is_exact:
            return
        why = can_transact(self._config(), self._name)
        if why is None:
            return
        if self._options.get(_GUARANTEE) == _EXACTLY:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{_GUARANTEE}' is '{_EXACTLY}', and the brokers take no transactions: {why}. Set it to '{_AT_LEAST}'."
            )
        self._is_exact = False

    def _config(self) -> ClientConfig:
        return ClientConfig.of_options(self._options, f"The sink of pipeline '{self._name}'")

    def topic(self, plan: TablePlan) -> str:
        """Where the changes of a table go."""
        return self._options.get(_TOPIC) or plan.target

    def values_of(self, plan: TablePlan) -> Encoder:
        """What writes the changes of a table."""
        if self._format == "json":
            return format_of(self._format, plan.schema, {}).encoder()
        space, _, table = plan.target.partition(".")
        return ChangeEncoder(self._format, plan.schema, {}, TableOrigin(space, table, self._database))

    def key_head(self, plan: TablePlan) -> bytes:
        """What a key of a table begins with."""
        if not self._is_shared:
            return b"{"
        return f"{{{json.dumps(_TABLE_ID)}:{json.dumps(plan.target, ensure_ascii=False)},".encode()

    def writer(self, batch_id: int) -> KafkaWriter:
        """A writer for the rows of a task."""
        place = local_path(self._staging)
        return KafkaWriter(self, None if place is None else place / str(batch_id))

    def commit(self, batch_id: int, parts: Sequence[Part]) -> None:
        """Send the messages of a micro-batch."""
        if not parts:
            return
        self._make({part.target for part in parts})
        if not self._is_exact:
            sending = Sending(self._config(), None, _AWAY_S)
            _send(sending, parts)
            sending.flush()
        else:
            # The number of a batch stands at a partition of one topic, the same in every batch.
            transaction = Transaction(self._config(), self._anchor, self._name, _TIMEOUT_MS, _AWAY_S)
            if transaction.begin(batch_id):
                try:
                    _send(transaction.sending, parts)
                    transaction.commit(batch_id)
                except BaseException:
                    transaction.abort()
                    raise
        for part in parts:
            forget_staged(part.content)

    def _make(self, topics: set[str]) -> None:
        """Topics of tables that are new since the start."""
        if new := sorted(topics - self._made):
            make_topics(self._config(), missing_topics(self._config(), new))
            self._made |= topics

    @property
    def _format(self) -> str:
        return self._options.get(_FORMAT, _FORMAT_DEFAULT)


class KafkaWriter:
    """Messages of one task, kept for the driver."""

    def __init__(self, sink: KafkaSink, place: Path | None) -> None:
        self._sink = sink
        self._place = place
        self._encoders: dict[str, tuple[Schema, Encoder, Encoder | None]] = {}
        self._staged: dict[str, StagedRows] = {}

    def schema(self, plan: TablePlan) -> Schema | None:
        """Any: messages have the columns that come."""
        return plan.schema

    def write(self, plan: TablePlan, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """A message for each row, and its key."""
        values_of, keys_of = self._encoders_of(plan)
        values: Any
        if values_of.has_changes:
            values = values_of.encode(rows, kinds)
        else:
            rows, is_put = to_upserts(rows, kinds, plan.schema.primary_key)
            values = list(values_of.encode(rows))
            if is_put is not None:
                values = [value if put else None for value, put in zip(values, is_put.tolist(), strict=True)]
        keys: Sequence[bytes | None] | None = None if keys_of is None else self._keys(plan, keys_of, rows)
        messages = pa.RecordBatch.from_arrays(
            [pa.array(keys or [None] * len(values), pa.binary()), pa.array(values, pa.binary())], names=[_KEY, _VALUE]
        )
        self._staged.setdefault(self._sink.topic(plan), StagedRows(self._place)).write(messages, None)

    def evolve(self, plan: TablePlan, evolution: Evolution) -> None:
        """Messages have other columns from here on."""

    def finish(self) -> list[Part]:
        """All messages, by topic."""
        return [Part(topic, staged.finish()) for topic, staged in self._staged.items()]

    def abort(self) -> None:
        """Nothing was sent."""

    def _keys(self, plan: TablePlan, keys_of: Encoder, rows: pa.RecordBatch) -> list[bytes | None]:
        head = self._sink.key_head(plan)
        keys = keys_of.encode(rows.select(list(plan.schema.primary_key)))
        return [head + key.removeprefix(b"{") for key in keys if key is not None]  # objects of JSON, none absent

    def _encoders_of(self, plan: TablePlan) -> tuple[Encoder, Encoder | None]:
        known = self._encoders.get(plan.target)
        if known is None or known[0] != plan.schema:
            value = self._sink.values_of(plan)
            key = (
                format_of("json", plan.schema.select(plan.schema.primary_key), {}).encoder() if plan.is_keyed else None
            )
            known = self._encoders[plan.target] = (plan.schema, value, key)
        return known[1], known[2]


def _send(sending: Sending, parts: Sequence[Part]) -> None:
    for part in parts:
        for messages, _ in staged_batches(part.content):
            keys, values = (messages.column(name).to_pylist() for name in (_KEY, _VALUE))
            sending.send(Records(values, keys, topics=[part.target] * len(values)))
