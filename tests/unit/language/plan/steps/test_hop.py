"""HOP with WHERE over its windows."""

from __future__ import annotations

from plan_engine import plan, refusal, sql

_HOP = "TABLE(HOP(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))"
_WINDOW = "window(clicks.__time, '5 minute', '1 minute')"


def test_windows_are_made_once_before_where_chooses_among_them() -> None:
    """Made in WHERE and again in GROUP BY, each row would be counted too often."""
    text = f"SELECT window_start, COUNT(*) AS n FROM {_HOP} WHERE window_start > at GROUP BY window_start, window_end"
    told = sql(plan(text).tree)
    assert told.count(_WINDOW) == 1
    assert told.endswith("WHERE (clicks.__window.start > clicks.at) GROUP BY clicks.__window")


def test_without_such_a_where_they_are_made_where_they_are_grouped_by() -> None:
    """As they are without WHERE."""
    told = sql(plan(f"SELECT window_start, COUNT(*) AS n FROM {_HOP} WHERE id > 1 GROUP BY window_start").tree)
    assert told.endswith(f"WHERE (clicks.id > 1) GROUP BY {_WINDOW}")


def test_a_lookup_beside_it_is_refused() -> None:
    """With a way that works."""
    text = (
        f"SELECT window_start, COUNT(*) AS n FROM {_HOP} AS w "
        "JOIN users FOR SYSTEM_TIME AS OF w.at AS u ON u.id = w.id WHERE window_start > w.at GROUP BY window_start"
    )
    assert "in an outer query" in refusal(text)[1]
