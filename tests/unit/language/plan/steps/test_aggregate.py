"""GROUP BY on streams: what Spark is told, and what is refused."""

from __future__ import annotations

import pytest
from plan_engine import plan, refusal, sql

from lakeward.language.changes import Changes
from lakeward.language.place import ScriptError

_WEIGHT = "(IF({0}._change_type IN ('insert', 'update_after'), CAST(1 AS BIGINT), -CAST(1 AS BIGINT)))"
_ORDERS = _WEIGHT.format("orders")


def test_rows_that_are_only_added_are_counted_by_spark() -> None:
    """A row replaces that of its group."""
    relation = plan("SELECT g, COUNT(*) AS n FROM plain GROUP BY g")
    assert sql(relation.tree) == (
        "SELECT plain.g AS g, count(*) AS n, 'update_after' AS _change_type FROM plain AS plain GROUP BY plain.g"
    )
    assert (relation.changes, relation.mode, relation.key) == (Changes.UPSERT, "update", (frozenset(["g"]),))


def test_rows_that_change_are_counted_by_weight_and_a_group_without_rows_is_deleted() -> None:
    """The weights say which groups are left."""
    relation = plan("SELECT g, SUM(v) AS s FROM orders WHERE v > 1 GROUP BY g")
    assert sql(relation.tree) == (
        f"SELECT orders.g AS g, lakeward_sum(orders.v, {_ORDERS}) AS s, "
        f"IF(SUM({_ORDERS}) <> 0, 'update_after', 'delete') AS _change_type "
        "FROM orders AS orders WHERE (orders.v > 1) GROUP BY orders.g"
    )


def test_having_speaks_of_a_shown_column_as_one_value() -> None:
    """`s * 2` of `v + 1 AS s` is (v + 1) * 2."""
    relation = plan("SELECT g, COUNT(*) + 1 AS s FROM plain GROUP BY g HAVING s * 2 > 5")
    assert "IF(((count(*) + 1) * 2 > 5), 'update_after', 'delete') AS _change_type" in sql(relation.tree)


def test_a_total_has_no_key_and_stays_when_all_rows_are_gone() -> None:
    """COUNT(*) of no rows is 0, not a deleted row."""
    relation = plan("SELECT 'all' AS k, COUNT(*) AS n FROM orders")
    assert relation.key == ()
    assert "'update_after' AS _change_type FROM" in sql(relation.tree)


@pytest.mark.parametrize("by", ["g", "1", "short"])
def test_keys_are_columns_numbers_and_names_of_shown_columns(by: str) -> None:
    """All three say the same."""
    relation = plan(f"SELECT {'g' if by != 'short' else 'g AS short'}, COUNT(*) FROM plain GROUP BY {by}")
    assert sql(relation.tree).endswith("GROUP BY plain.g")


def test_a_name_that_is_a_column_and_an_alias_is_the_column() -> None:
    """As the standard has it; then the key is not shown."""
    relation = plan("SELECT v + 1 AS g, COUNT(*) FROM plain GROUP BY g, v")
    assert sql(relation.tree).endswith("GROUP BY plain.g, plain.v")
    assert relation.key is None


def test_final_windows_are_rows_that_are_only_added() -> None:
    """Where the sink is a log, a window is told once."""
    size = "INTERVAL '1' MINUTE"
    text = f"SELECT TUMBLE_START(at, {size}) AS s, COUNT(*) AS n FROM clicks GROUP BY TUMBLE(at, {size})"
    relation = plan(text, is_final=True)
    window = "window(clicks.__time, '1 minute')"
    assert sql(relation.tree) == (f"SELECT {window}.start AS s, count(*) AS n FROM clicks AS clicks GROUP BY {window}")
    assert (relation.changes, relation.mode) == (Changes.APPEND, "append")


@pytest.mark.parametrize(
    ("query", "at", "sentence"),
    [
        ("SELECT g, COUNT(*) FROM orders WHERE v > RAND() GROUP BY g", "v > RAND()", "WHERE over rows that change"),
        ("SELECT now, COUNT(*) FROM stamped GROUP BY now", "now", "GROUP BY over rows that change"),
        ("SELECT CURRENT_DATE AS d, COUNT(*) FROM orders GROUP BY d", "", "GROUP BY over rows that change"),
        ("SELECT g, MAX(now) FROM stamped GROUP BY g", "MAX(now)", "an aggregate over rows that change"),
        ("SELECT g, COUNT(*) FROM late GROUP BY g", "", "read from a later moment on"),
        ("SELECT g, COUNT(*) FROM quiet GROUP BY g", "quiet GROUP", "does not say what was before"),
        ("SELECT g, COUNT(*) FROM quiet GROUP BY g", "quiet GROUP", "gets ALTER TABLE … REPLICA IDENTITY FULL"),
        ("SELECT g, FIRST_VALUE(v) FROM orders GROUP BY g", "", "cannot take rows back"),
        ("SELECT g, COUNT(*) FROM orders GROUP BY ROLLUP (g)", "", "ROLLUP does not run on a stream"),
        (
            "SELECT n, COUNT(*) FROM (SELECT g, COUNT(*) AS n FROM plain GROUP BY g) GROUP BY n",
            "n, COUNT",
            "INSERT the",
        ),
        ("SELECT g, COUNT(*) FROM orders GROUP BY GROUPING SETS ((g), ())", "g", "GROUPING SETS does not run"),
        ("SELECT g, COUNT(*) FROM orders GROUP BY g WITH ROLLUP", "g", "ROLLUP does not run"),
        ("SELECT g FROM orders GROUP BY 2", "", "GROUP BY 2: the SELECT has 1 columns"),
        (
            "SELECT user, COUNT(*) FROM events GROUP BY user, SESSION(at, INTERVAL '1' MINUTE)",
            "user, COUNT",
            "Spark cannot part them",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(query: str, at: str, sentence: str) -> None:
    """With the clause, its place, and a way that works."""
    place, said = refusal(query)
    assert place.startswith(at)
    assert sentence in said


def test_an_aggregate_of_final_windows_is_refused() -> None:
    """Spark would tell windows that are not complete, each time they change."""
    windows = "SELECT COUNT(*) AS n FROM clicks GROUP BY TUMBLE(at, INTERVAL '1' MINUTE)"
    with pytest.raises(ScriptError, match="INSERT the windows INTO a table"):
        plan(f"SELECT SUM(n) AS s FROM ({windows}) w", is_final=True)
