"""Properties with their defaults and meaning."""

from __future__ import annotations

from lakeward.console.pages.tables.property_rows import changeable_keys, property_rows


def test_what_is_set_comes_first_and_everything_has_a_meaning() -> None:
    """A property that is not known is shown, too; a secret is not."""
    rows = property_rows({"table.log.ttl": "3d", "table.zzz": "x", "table.datalake.paimon.s3.secret-key": "hush"})
    assert [row.key for row in rows[:3]] == ["table.datalake.paimon.s3.secret-key", "table.log.ttl", "table.zzz"]
    assert rows[1].default == "7 d"
    assert "hush" not in repr(rows)
    assert all(row.doc for row in rows)
    assert "table.log.ttl" in changeable_keys()
