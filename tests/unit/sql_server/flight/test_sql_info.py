"""What the server says of itself to clients of Flight SQL."""

from __future__ import annotations

from lakeward.sql_server.flight.sql_info import INFO, sql_info


def test_each_answer_is_of_the_kind_that_its_number_has() -> None:
    """Texts, yes or no, numbers, bits and lists in the columns of a union."""
    rows = sql_info([]).to_pylist()
    assert {row["info_name"] for row in rows} == set(INFO)
    told = {row["info_name"]: row["value"] for row in rows}
    assert (told[0], told[3], told[507], told[522]) == ("Lakeward", True, 3, 3)
    assert "ABS" in told[509]


def test_only_what_is_asked_for_is_told() -> None:
    """Numbers that nobody knows are left out."""
    assert sql_info([4, 9, 99_999]).column("info_name").to_pylist() == [4, 9]
