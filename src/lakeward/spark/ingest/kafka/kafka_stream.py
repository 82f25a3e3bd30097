"""Streams: offsets in Spark's checkpoint, new partitions on the way, and brokers that go away and come back."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from lakeward.errors import LakewardError, NotFoundError
from lakeward.model.schema import Schema
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.ingest.kafka.brokers.cluster import AwayError, Cluster
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.ground.offsets import (
    Offsets,
    Partition,
    Places,
    advance,
    begin_of,
    limit_rows,
    losses,
)
from lakeward.spark.ingest.kafka.kafka_readers import FIRST_PATIENCE_S, KafkaRange, Reading
from lakeward.spark.ingest.kafka.messages.bad_messages import BadMessages
from lakeward.spark.ingest.kafka.range_reader import SURE_S, lost_rows
from lakeward.spark.ingest.kafka.starts import first_places, last_places
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE_S = 5.0
_PAUSE_S = 0.5


class KafkaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Topics as they grow. The driver's part keeps a client; tasks get what is pickled, without it."""

    def __init__(self, options: Mapping[str, str], schema: Schema, clock: Clock | None = None) -> None:
        self._reading = Reading(dict(options), schema)
        self._reading.check()
        self._clock = clock or SystemClock()
        self._cluster: Cluster | None = None
        self._parts: list[Partition] = []
        self._ids: dict[str, str] = {}
        self._looked_s: float | None = None
        self._answered_s = self._clock.monotonic()
        self._is_away = False
        self._latest: Offsets | None = None
        self._behind = 0
        self._final: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cluster": None}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where a new stream begins."""
        with one_sentence():
            try:
                cluster, options = self._connect(), self._reading.options
                self._look(FIRST_PATIENCE_S)
                places = first_places(cluster, options, self._parts, FIRST_PATIENCE_S)
                until = last_places(cluster, options, self._parts, FIRST_PATIENCE_S)
            except AwayError as away:
                raise away.wrong from None
            return Offsets(places, self._ids, until).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """What `scan.max-rows-per-trigger` says, else everything."""
        most = rows.MAX_ROWS.read(self._reading.options)
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """What there is now is what there is."""
        with one_sentence():
            try:
                self._look(FIRST_PATIENCE_S)
                self._final = self._ask_latest(FIRST_PATIENCE_S)
            except AwayError as away:
                raise away.wrong from None

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """How far the next micro-batch reads; no further than now while brokers are away."""
        with one_sentence():
            begun = Offsets.of_json(start)
            while (asked := self._ask()) is None:
                if self._final is None:
                    return start
            now, earliest = asked
            gone = losses(begun, now, earliest)
            if gone and rows.FAIL_ON_DATA_LOSS.read(self._reading.options):
                raise lost_rows(gone)
            self._latest = now
            ends = dict(now.places)
            if begun.until is not None:
                ends = {part: min(end, begun.until[part]) for part, end in ends.items() if part in begun.until}
            begin = begin_of(begun, advance(now, ends, now.ids), earliest)
            most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
            next_ = advance(begun, limit_rows(begin, ends, most), now.ids)
            self._behind = sum(max(0, end - next_.places.get(part, end)) for part, end in now.places.items())
            return next_.to_json()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """What brokers have, for the lag in the progress."""
        if self._latest is None:
            return None
        return {**Offsets(self._latest.places).to_json(), "rowsBehind": self._behind}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Ranges of a micro-batch."""
        with one_sentence():
            first, last = Offsets.of_json(start), Offsets.of_json(end)
            asked = last.places if not rows.FAIL_ON_DATA_LOSS.read(self._reading.options) else ()
            unknown = [part for part in last.places if part not in first.places or part in asked]
            try:
                earliest = self._connect().earliest(unknown, rows.AWAY_TIMEOUT.read(self._reading.options) / 1000)
            except AwayError as away:
                raise away.wrong from None
            return self._reading.tasks(begin_of(first, last, earliest), last.places)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one range."""
        assert isinstance(partition, KafkaRange)
        yield from each_in_one_sentence(self._reading.read(partition.range))

    def commit(self, end: dict[str, Any]) -> None:
        """Tell the group how far it is; the checkpoint knows already."""
        if self._reading.config.group_id is not None and self._cluster is not None:
            self._cluster.commit(Offsets.of_json(end).places)

    def stop(self) -> None:
        """Say goodbye."""
        if self._cluster is not None:
            self._cluster.close()

    def _connect(self) -> Cluster:
        if self._cluster is None:
            BadMessages(self._reading.options).prepare()
            self._cluster = Cluster(self._reading.config, self._clock)
        return self._cluster

    def _now(self) -> Offsets:
        if self._final is not None:
            return self._final
        every_s = rows.DISCOVERY_INTERVAL.read(self._reading.options) / 1000
        first = self._looked_s is None
        if self._looked_s is None or self._clock.monotonic() - self._looked_s >= every_s:
            self._look(FIRST_PATIENCE_S if first else _PATIENCE_S)
        return self._ask_latest(_PATIENCE_S)

    def _look(self, patience_s: float) -> None:
        """See which partitions there are."""
        cluster = self._connect()
        self._parts = self._reading.partitions(cluster, patience_s)
        self._ids = cluster.ids(sorted({topic for topic, _ in self._parts}))
        self._looked_s = self._clock.monotonic()

    def _ask_latest(self, patience_s: float) -> Offsets:
        return Offsets(self._connect().latest(self._parts, patience_s), self._ids)

    def _ask(self) -> tuple[Offsets, Places] | None:
        """What brokers have, from where to where; None while they are away, an error when that lasts too long."""
        try:
            now = self._now()
            found = now, self._connect().earliest(now.places, _PATIENCE_S)
        except AwayError as away:
            self._wait(away.wrong, self._away_s())
            return None
        except NotFoundError as wrong:  # a broker that has just started knows no topic yet
            self._wait(wrong, min(SURE_S, self._away_s()), "Its brokers may just be starting. ")
            return None
        self._answer()
        return found

    def _wait(self, wrong: LakewardError, most_s: float, perhaps: str = "") -> None:
        if self._clock.monotonic() - self._answered_s > most_s:
            raise wrong
        if not self._is_away:
            self._is_away = True
            _say(f"{wrong.message} {perhaps}The stream waits up to {most_s:.0f} s, and goes on when it can.")
        time.sleep(_PAUSE_S)

    def _answer(self) -> None:
        if self._is_away:
            self._is_away = False
            _say(f"Kafka at {self._reading.config.servers} is back; the stream goes on.")
        self._answered_s = self._clock.monotonic()

    def _away_s(self) -> float:
        return rows.AWAY_TIMEOUT.read(self._reading.options) / 1000


def _say(sentence: str) -> None:
    """In the form in which the command line hears it, and says it once."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} WARN bridge: {sentence}\n")
    sys.stderr.flush()
