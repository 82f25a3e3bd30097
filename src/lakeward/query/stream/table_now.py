"""TableNow: what of a table a stream sees at one moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.plan.plan import chosen_partitions
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

_ATTEMPTS = 5


class TableNow:
    """A table as it is now: its partitions, and the offsets of their buckets."""

    def __init__(self, table: Table, request: ReadRequest) -> None:
        self.table = table
        self._request = request
        self._list()

    def _list(self) -> None:
        chosen, self.partitions_in_all = chosen_partitions(self.table, self._request)
        self.partitions = {p.name: p.id for p in chosen or ()}
        self._names = None if chosen is None else list(self.partitions)

    @property
    def table_id(self) -> int:
        """The table's id."""
        return self.table.info.table_id

    def offsets(self, at: object, only: Iterable[str | None] | None = None) -> dict[BucketId, int]:
        """Offsets of the partitions that there are; one that is dropped meanwhile is left out from then on."""
        for attempt in range(_ATTEMPTS):
            names = self._names
            if names is not None and only is not None:
                names = [name for name in names if name in set(only)]
            try:
                return self.table.offsets(at, partitions=names)
            except LakewardError as wrong:
                if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS or attempt == _ATTEMPTS - 1:
                    raise
            self._list()
        raise AssertionError("the last attempt returns or raises")
