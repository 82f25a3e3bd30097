"""A message for each change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka_broker import MockBroker
from pipeline_events import BEFORE, HISTORY, SinkBench, definition_of, rows, source_table

from lakeward.capture.port import TableId
from lakeward.errors import LakewardError
from lakeward.pipelines.plan import plan_tables
from lakeward.pipelines.reading import read_pipelines
from lakeward.spark.pipelines.sinks.kafka_sink import KafkaSink


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
        "Changes go to public.lines as debezium-json, at least once: after a failure some may come twice",
        "Made, with as many partitions as the brokers give: public.lines",
    ]
    for number, events in enumerate(HISTORY):
        bench.batch(number, events)
    last = _last(broker, "public.lines")
    assert last[b'{"o":0,"n":1}']["after"] == {"o": 0, "n": 1, "item": "x"}
    assert last[b'{"o":0,"n":1}']["source"] == {"db": "d", "schema": "public", "table": "lines"}
    assert last[b'{"o":0,"n":2}']["op"] == "d"
    assert last[b'{"o":0,"n":3}']["op"] == "d"
    assert last[b'{"o":5,"n":5}']["after"] == {"o": 5, "n": 5, "item": "n", "q": 7}


def test_upserts_as_json(broker: MockBroker, tmp_path: Path) -> None:
    """A delete, and the old key of a row that moved, are messages without a value."""
    sink = (
        f"type: kafka, value.format: json, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once"
    )
    bench = SinkBench(sink, tmp_path)
    for number, events in enumerate(HISTORY):
        bench.batch(number, events)
    assert _last(broker, "public.lines") == {
        b'{"o":0,"n":1}': {"o": 0, "n": 1, "item": "x"},
        b'{"o":0,"n":2}': None,
        b'{"o":0,"n":3}': None,
        b'{"o":0,"n":9}': {"o": 0, "n": 9, "item": "c"},
        b'{"o":5,"n":5}': {"o": 5, "n": 5, "item": "n", "q": 7},
    }


@pytest.mark.parametrize(
    ("format_", "said"),
    [
        ("debezium-json", {"source": {"db": "d", "schema": "public", "table": "words"}}),
        ("canal-json", {"database": "public", "table": "words"}),
        ("json", {}),
    ],
)
def test_tables_of_one_topic_are_told_apart(
    broker: MockBroker, tmp_path: Path, format_: str, said: dict[str, Any]
) -> None:
    """By their keys, which are others for rows of the same key, and by what a change says of its table."""
    sink = (
        f"type: kafka, topic: all, value.format: {format_}, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once"
    )
    bench = SinkBench(sink, tmp_path)
    other = source_table("o INT, n INT, word STRING, PRIMARY KEY (o, n)", TableId("public", "words"))
    bench.batch(0, [rows(BEFORE, [(0, 1, "a")]), rows(other, [(0, 1, "b")])])
    last = _last(broker, "all")
    assert sorted(last) == [b'{"TableId":"public.lines","o":0,"n":1}', b'{"TableId":"public.words","o":0,"n":1}']
    word = last[b'{"TableId":"public.words","o":0,"n":1}']
    assert {key: word[key] for key in said} == said


def test_a_topic_of_one_table_has_its_plain_keys(broker: MockBroker, tmp_path: Path) -> None:
    """No other table can come."""
    text = (
        "source: {type: mysql, hostname: h, username: u, tables: shop.lines}\n"
        f"sink: {{type: kafka, topic: one, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once}\n"
    )
    definition = read_pipelines([("p.yaml", text)], {})[0]
    sink = KafkaSink(definition, "p", str(tmp_path))
    table = source_table("id INT, PRIMARY KEY (id)", TableId("shop", "lines"))
    (plan,) = plan_tables(definition, [table])
    writer = sink.writer(0)
    writer.write(plan, rows(table, [(1,)]).rows, None)
    sink.commit(0, writer.finish())
    (message,) = broker.messages("one")
    assert message.key() == b'{"id":1}'
    assert json.loads(message.value())["source"] == {"db": "shop", "table": "lines"}


def test_a_plan_makes_no_topic(broker: MockBroker, tmp_path: Path) -> None:
    """It says which are missing."""
    sink = f"type: kafka, properties.bootstrap.servers: '{broker.bootstrap}', delivery.guarantee: at-least-once"
    definition = definition_of(sink)
    plans = plan_tables(definition, [BEFORE])
    for _ in range(2):
        notes = KafkaSink(definition, "p", str(tmp_path)).prepare(plans, makes=False)
        assert notes[1] == "To be made, with as many partitions as the brokers give: public.lines"


def test_json_needs_a_key(broker: MockBroker, tmp_path: Path) -> None:
    """Without one nobody knows what a delete was of."""
    sink = (
        f"type: kafka, value.format: json, properties.bootstrap.servers: '{broker.bootstrap}', "
        "delivery.guarantee: at-least-once"
    )
    bench = SinkBench(sink, tmp_path)
    with pytest.raises(LakewardError, match=r"public.lines: without a primary key"):
        bench.sink.prepare(plan_tables(bench.definition, [source_table("what STRING")]), makes=False)
