"""FOR SYSTEM_TIME AS OF a column: rows of a primary key table, looked up by key."""

from __future__ import annotations

import pytest
from script_bench import Bench

from lakeward.language.place import Place, ScriptError

_TABLES = """
CREATE TABLE clicks (id BIGINT, user_id BIGINT, country STRING, at TIMESTAMP(3));
CREATE TABLE users (id BIGINT, name STRING, tier STRING, PRIMARY KEY (id) NOT ENFORCED);
CREATE TABLE prices (country STRING, product BIGINT, price INT, PRIMARY KEY (country, product) NOT ENFORCED)
    DISTRIBUTED BY (country) INTO 2 BUCKETS;
INSERT INTO users VALUES (1, 'Ada', 'gold'), (2, 'Bob', 'silver');
INSERT INTO prices VALUES ('DE', 1, 10), ('DE', 2, 20), ('FR', 1, 11);
INSERT INTO clicks VALUES (10, 1, 'DE', TIMESTAMP '2026-01-01 00:00:00'),
    (11, 2, 'FR', TIMESTAMP '2026-01-01 00:00:01'), (12, 3, 'DE', TIMESTAMP '2026-01-01 00:00:02'),
    (13, CAST(NULL AS BIGINT), 'IT', TIMESTAMP '2026-01-01 00:00:03');
"""


@pytest.fixture
def shop(bench: Bench) -> Bench:
    """Clicks, users and prices."""
    bench.run(_TABLES)
    return bench


_JOINS = {
    "LEFT JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id = u.id": [
        (10, "Ada"),
        (11, "Bob"),
        (12, None),
        (13, None),
    ],
    "JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON u.id = c.user_id": [(10, "Ada"), (11, "Bob")],
    "LEFT JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id = u.id AND u.tier = 'gold'": [
        (10, "Ada"),
        (11, None),
        (12, None),
        (13, None),
    ],
    "JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id = u.id AND u.tier = 'gold' AND c.id > 5": [(10, "Ada")],
    "LEFT JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id + 1 = u.id": [
        (10, "Bob"),
        (11, None),
        (12, None),
        (13, None),
    ],
}


@pytest.mark.covering("streaming")
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_rows_are_found_by_their_primary_key(shop: Bench, mode: str) -> None:
    """LEFT keeps rows without a match, INNER leaves them out; bounded and streaming give the same."""
    names = {join: f"out_{number}" for number, join in enumerate(_JOINS)}
    shop.run("".join(f"CREATE TABLE {name} (id BIGINT, name STRING);" for name in names.values()))
    inserts = [f"INSERT INTO {n} SELECT c.id, u.name FROM clicks AS c {join};" for join, n in names.items()]
    shop.run(f"SET 'execution.runtime-mode' = '{mode}'; EXECUTE STATEMENT SET BEGIN {''.join(inserts)} END")
    assert {join: shop.table(name) for join, name in names.items()} == _JOINS


def test_several_lookups_follow_each_other(shop: Bench) -> None:
    """The second one may use what the first one found; names without a table are found by themselves."""
    shop.run(
        "CREATE TABLE out AS SELECT c.id, name, p.price * 2 AS twice, c.* FROM clicks c "
        "LEFT JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id = u.id "
        "JOIN prices FOR SYSTEM_TIME AS OF c.at AS p ON p.country = c.country AND p.product = u.id"
    )
    assert [row[:3] for row in shop.table("out")] == [(10, "Ada", 20)]


def test_a_part_of_the_key_finds_several_rows(shop: Bench) -> None:
    """The bucket key begins the primary key: a row comes once for each that is found."""
    shop.run(
        "CREATE TABLE out AS SELECT c.id, p.product, p.price FROM clicks c "
        "LEFT JOIN prices FOR SYSTEM_TIME AS OF c.at AS p ON p.country = c.country"
    )
    assert shop.table("out") == [(10, 1, 10), (10, 2, 20), (11, 1, 11), (12, 1, 10), (12, 2, 20), (13, None, None)]


def test_changes_of_the_left_table_replace_what_was_told(shop: Bench) -> None:
    """A primary key table on the left: updates, deletes, and rows that no longer match."""
    shop.run(
        "CREATE TABLE carts (id BIGINT, user_id BIGINT, PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO carts VALUES (1, 1), (2, 2), (3, 1);"
        "CREATE TABLE named (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO named SELECT c.id, u.name FROM carts c "
        "JOIN users FOR SYSTEM_TIME AS OF PROCTIME() AS u ON c.user_id = u.id WHERE u.tier <> 'bronze'"
    )
    assert shop.table("named") == [(1, "Ada"), (2, "Bob"), (3, "Ada")]
    shop.run("INSERT INTO carts VALUES (1, 99), (2, 1); DELETE FROM carts WHERE id = 3")
    shop.settle()
    assert shop.table("named") == [(2, "Ada")]


@pytest.mark.parametrize(
    ("query", "place", "words"),
    [
        pytest.param(
            "SELECT c.id FROM clicks c JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.id = u.name",
            Place(1, 60),
            "u is looked up by name, and can be looked up by its primary key (id)",
            id="not by the key",
        ),
        pytest.param(
            "SELECT c.id FROM clicks c RIGHT JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.id = u.id",
            Place(1, 66),
            "a lookup is a LEFT or an INNER JOIN",
            id="a right join",
        ),
        pytest.param(
            "SELECT id FROM clicks c JOIN users FOR SYSTEM_TIME AS OF c.at AS u ON c.user_id = u.id",
            Place(1, 8),
            "column 'id' is in c and u",
            id="a name that two tables have",
        ),
    ],
)
def test_what_cannot_be_looked_up_is_refused(shop: Bench, query: str, place: Place, words: str) -> None:
    """The message names the columns that would do."""
    shop.run("SET 'execution.runtime-mode' = 'streaming'")
    with pytest.raises(ScriptError) as caught:
        shop.run(query)
    assert words in caught.value.sentence
    assert caught.value.place.line == place.line
