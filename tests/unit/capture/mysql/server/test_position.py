"""Places in the binlog, and their order."""

from __future__ import annotations

from lakeward.capture.mysql.server import position as positions

ONE, TWO = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def test_on_one_server_files_and_bytes_are_the_order() -> None:
    """Files by their number, also where it has more digits than before."""
    first = positions.position("binlog.999999", 500, "", "1")
    later = positions.position("binlog.1000000", 4, "", "1")
    assert positions.is_after(later, first)
    assert not positions.is_after(first, later)
    assert not positions.is_after(first, first)


def test_on_two_servers_gtids_are_the_order() -> None:
    """Of MariaDB by domain, of MySQL by how many transactions each source has."""
    old = positions.position("a.000009", 4, "0-1-100,1-5-7", "1")
    assert positions.is_after(positions.position("b.000001", 4, "0-2-101,1-5-7", "2"), old)
    assert not positions.is_after(positions.position("b.000001", 4, "0-2-100", "2"), old)
    some = positions.position("a.000009", 4, f"{ONE}:1-5:7", "x")
    assert positions.is_after(positions.position("b.000001", 4, f"{ONE}:1-7", "y"), some)
    assert not positions.is_after(positions.position("b.000001", 4, f"{ONE}:1-6", "y"), some)


def test_a_set_grows_by_one_transaction_at_a_time() -> None:
    """Spans that touch are joined, and sources are kept apart."""
    spans = positions.parse_gtid_set(f"{ONE}:1-5:7,\n{TWO}:3")
    for number in (6, 9, 9):
        positions.add_to_gtid_set(spans, ONE, number)
    assert positions.write_gtid_set(spans) == f"{ONE}:1-7:9,{TWO}:3"
