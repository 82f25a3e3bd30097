"""A message for each change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka_broker import MockBroker
from pipeline_events import HISTORY, SinkBench

from lakeward.errors import LakewardError


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    """librdkafka's own."""
    made = MockBroker()
    yield made
    made.stop()


def _last(broker: MockBroker, topic: str) -> dict[bytes, Any]:
    """The last message of each key."""
    found = {message.key(): message.value() for message in broker.messages(topic)}
    return {key: None if value is None else json.loads(value) for key, value in found.items()}


def test_changes_as_debezium_writes_them(broker: MockBroker, tmp_path: Path) -> None:
    """By key, the last message says what is there; a topic for each table."""
    sink = f"type: kafka, properties.bootstrap.servers: '{broker.bootstrap}', delivery.guarantee: at-least-once"
    bench = SinkBench(sink, tmp_path)
    assert bench.notes == [
        "Changes go to public.lines as debezium-json, at least once: after a failure some may come twice"
    ]
    for number, events in enumerate(HISTORY):
        bench.batch(number, events)
    last = _last(broker, "public.lines")
    assert last[b'{"o":0,"n":1}']["after"] == {"o": 0, "n": 1, "item": "x"}
    assert last[b'{"o":0,"n":2}']["op"] == "d"
    assert last[b'{"o":0,"n":3}']["op"] == "d"
    assert last[b'{"o":5,"n":5}']["after"] == {"o": 5, "n": 5, "item": "n", "q": 7}


def test_upserts_as_json(broker: MockBroker, tmp_path: Path) -> None:
    """A delete, and the old key of a row that moved, are messages without a value."""
    sink = (
        f"type: kafka, topic: all, value.format: json, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once"
    )
    bench = SinkBench(sink, tmp_path)
    for number, events in enumerate(HISTORY):
        bench.batch(number, events)
    assert _last(broker, "all") == {
        b'{"o":0,"n":1}': {"o": 0, "n": 1, "item": "x"},
        b'{"o":0,"n":2}': None,
        b'{"o":0,"n":3}': None,
        b'{"o":0,"n":9}': {"o": 0, "n": 9, "item": "c"},
        b'{"o":5,"n":5}': {"o": 5, "n": 5, "item": "n", "q": 7},
    }


def test_json_needs_a_key(broker: MockBroker, tmp_path: Path) -> None:
    """Without one nobody knows what a delete was of."""
    from pipeline_events import source_table

    from lakeward.pipelines.plan import plan_tables

    sink = (
        f"type: kafka, value.format: json, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once"
    )
    bench = SinkBench(sink, tmp_path)
    with pytest.raises(LakewardError, match=r"public.lines: without a primary key"):
        bench.sink.prepare(plan_tables(bench.definition, [source_table("what STRING")]), makes=False)
