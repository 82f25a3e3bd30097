"""Traffic: rows and bytes of each table, in and out. Counted a batch or a request at a time, never a row."""

from __future__ import annotations


class TableTraffic:
    """What has come in and gone out of one table since the start."""

    __slots__ = ("bytes_in", "bytes_out", "keys_looked_up", "rows_in", "rows_out")

    def __init__(self) -> None:
        self.rows_in = self.bytes_in = self.rows_out = self.bytes_out = self.keys_looked_up = 0

    def take_in(self, rows: int, size: int) -> None:
        """A batch was written."""
        self.rows_in += rows
        self.bytes_in += size

    def hand_out(self, rows: int, size: int) -> None:
        """A fetch was answered."""
        self.rows_out += rows
        self.bytes_out += size

    def look_up(self, keys: int, size: int) -> None:
        """A lookup was answered."""
        self.keys_looked_up += keys
        self.bytes_out += size


class Traffic(dict[int, TableTraffic]):
    """By the number of the table; one that is dropped is taken out."""

    __slots__ = ()

    def __missing__(self, table_id: int) -> TableTraffic:
        made = self[table_id] = TableTraffic()
        return made
