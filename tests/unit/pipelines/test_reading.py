"""Files become definitions, or every mistake is told at once."""

from __future__ import annotations

import pytest
from guide_pipeline import GUIDE_PIPELINE

from lakeward.capture.port import TableId
from lakeward.pipelines.reading import read_pipelines
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.text.mistake import MistakesError

_WRONG = """\
source:
  type: mysql
  hostnam: x
  port: abc
  username: root
  username: again
  password: ${NOPE}
  tables: shop.(, shop
sink:
  type: flus
route:
  - source-table: shop.\\.*
    sink-table: ods.<>
    replace-symbol: "{}"
  - source-table: shop.x
    sink-table: nodot
transform:
  - source-table: shop.orders
    projection: id, FROM x
    filter: "id > "
    foo: 1
  - projection: count(*) AS n
pipeline:
  name: a
  parallelism: -1
  schema.change.behavior: evolv
  local-time-zone: Mars/X
extra: 1
"""
_TOLD = {
    "1:1: 'source' lacks 'hostname'",
    "3:3: 'source' has no 'hostnam'. Did you mean 'hostname'?",
    "4:9: 'port': 'abc' is not a whole number.",
    "6:3: 'username' is given twice; the first one is in line 5",
    "7:13: ${NOPE} is not set in the environment",
    "8:11: 'tables': '(, shop' is no regular expression",
    "10:9: 'type' is 'flus'; expected one of fluss, kafka, iceberg, print. Did you mean 'fluss'?",
    "14:21: 'replace-symbol' {} does not stand in 'sink-table'",
    "16:17: 'sink-table' is 'nodot'; expected database.table.",
    "19:21: 'projection': expected something after ','",
    "20:18: 'filter': expected an expression after '>'",
    "21:5: 'transform[1]' has no 'foo'.",
    "22:5: 'transform[2]' lacks 'source-table'",
    "22:17: 'projection': each row is looked at by itself here",
    "25:16: 'parallelism': -1 is not between 1",
    "26:27: 'schema.change.behavior' is 'evolv'; expected one of evolve",
    "27:20: 'local-time-zone': 'Mars/X' is no time zone",
    "28:1: the document has no 'extra'.",
}


def test_the_guides_file_is_read_as_it_stands() -> None:
    """`database-name` and `table-name` name the table on both ends."""
    [found] = read_pipelines([("pipeline.yaml", GUIDE_PIPELINE)], {})
    assert found.name == "mysql-to-fluss"
    assert found.parallelism == 4
    assert found.schema_changes is SchemaChanges.LENIENT
    assert found.names(TableId("mydb", "users"))
    assert not found.names(TableId("mydb", "users2"))
    assert found.sink_table(TableId("mydb", "users")) == "analytics.users"
    assert found.source.options["password"] == "password"


def test_secrets_are_shown_nowhere() -> None:
    """Neither the text of a definition nor what is told of its options has the password."""
    text = GUIDE_PIPELINE.replace("password: password", "password: ${PW}").replace("mysql-host", "${HOST}")
    [found] = read_pipelines([("pipeline.yaml", text)], {"PW": "tell-nobody", "HOST": "secret-host"})
    assert found.source.options["password"] == "tell-nobody"
    assert "tell-nobody" not in f"{found} {found.source.plain_options()}"
    assert found.source.plain_options()["hostname"] == "******"
    assert found.without_secrets("no: tell-nobody@secret-host") == "no: ******@******"


def test_every_mistake_is_told_at_once_with_its_place() -> None:
    """Line and column, what was expected, and the nearest key."""
    with pytest.raises(MistakesError) as wrong:
        read_pipelines([("p.yaml", _WRONG)], {})
    told = [str(mistake).removeprefix("p.yaml:") for mistake in wrong.value.mistakes]
    assert {expected for expected in _TOLD if not any(one.startswith(expected) for one in told)} == set()
    assert len(told) == len(_TOLD)


def test_a_value_by_reference_is_not_shown_in_a_mistake() -> None:
    """What was filled in is not told, even where it is wrong."""
    with pytest.raises(MistakesError) as wrong:
        read_pipelines([("p.yaml", GUIDE_PIPELINE.replace("3306", "${PORT}"))], {"PORT": "tell-nobody"})
    assert "tell-nobody" not in wrong.value.message
    assert "p.yaml:5:9: 'port'" in wrong.value.message


def test_mistakes_inside_of_a_block_have_their_own_line() -> None:
    """An expression over several lines is counted from the line below its `|`."""
    text = GUIDE_PIPELINE + "transform:\n  - source-table: mydb.users\n    filter: |\n      id > 1\n      AND\n"
    with pytest.raises(MistakesError) as wrong:
        read_pipelines([("p.yaml", text)], {})
    [mistake] = wrong.value.mistakes
    assert "'filter': expected" in mistake.sentence
    assert mistake.line >= 22


def test_several_documents_have_names_of_their_own() -> None:
    """Two pipelines of one name are a mistake, in one file or in two."""
    other = GUIDE_PIPELINE.replace("name: mysql-to-fluss", "name: second")
    found = read_pipelines([("a.yaml", f"{GUIDE_PIPELINE}---\n{other}")], {})
    assert [one.name for one in found] == ["mysql-to-fluss", "second"]
    with pytest.raises(MistakesError, match=r"b.yaml:18:9: a pipeline named 'mysql-to-fluss' is in a.yaml already"):
        read_pipelines([("a.yaml", GUIDE_PIPELINE), ("b.yaml", GUIDE_PIPELINE)], {})


def test_an_empty_file_is_a_mistake() -> None:
    """Nothing to run is not what somebody wants."""
    with pytest.raises(MistakesError, match="holds no pipeline"):
        read_pipelines([("a.yaml", "# nothing\n")], {})


def test_routes_transforms_and_postgres() -> None:
    """Patterns with schemas, `replace-symbol`, keys as lists or texts, options as maps or texts."""
    text = """
source:
  {type: postgres, hostname: h, username: u, database-name: shop, tables: 'public.\\.*', tables.exclude: public.tmp}
sink: {type: print}
route:
  - {source-table: public.o\\.*, sink-table: ods.ods_<>, replace-symbol: <>}
transform:
  - source-table: public.orders
    projection: "*, price * 2 AS twice"
    primary-keys: [a, b]
    partition-keys: day
    table-options: {bucket.num: 3, x: y}
"""
    [found] = read_pipelines([("p.yaml", text)], {})
    assert found.sink_table(TableId("public", "orders")) == "ods.ods_orders"
    assert found.sink_table(TableId("public", "users")) == "public.users"
    assert not found.names(TableId("public", "tmp"))
    assert found.name == "postgres-shop-to-print"
    transform = found.transform_of(TableId("public", "orders"))
    assert transform is not None
    assert (transform.primary_keys, transform.partition_keys) == (("a", "b"), ("day",))
    assert transform.table_options == {"bucket.num": "3", "x": "y"}
