"""Leadership: which buckets this server leads, and since which epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeward.model.bucket import TableBucket


class Leadership:
    """What a coordinator has ordered."""

    def __init__(self, server_id: int) -> None:
        self.server_id = server_id
        self._epochs: dict[TableBucket, int] = {}
        #: Of the coordinator whose orders hold.
        self.coordinator_epoch = -1

    def __contains__(self, bucket: TableBucket) -> bool:
        return bucket in self._epochs

    def __iter__(self) -> Iterator[TableBucket]:
        return iter(list(self._epochs))

    def __len__(self) -> int:
        return len(self._epochs)

    def obey(self, coordinator_epoch: int) -> bool:
        """Whether a coordinator's orders hold: one of an older epoch has been replaced."""
        if coordinator_epoch < self.coordinator_epoch:
            return False
        self.coordinator_epoch = coordinator_epoch
        return True

    def epoch(self, bucket: TableBucket) -> int | None:
        """The epoch in which a bucket is led from here; None when it is not."""
        return self._epochs.get(bucket)

    def take(self, bucket: TableBucket, epoch: int) -> None:
        """Lead a bucket from now on."""
        self._epochs[bucket] = epoch

    def give_up(self, bucket: TableBucket) -> None:
        """Lead it no more."""
        self._epochs.pop(bucket, None)

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Buckets were dropped with their tables."""
        for bucket in self:
            if is_gone(bucket):
                self.give_up(bucket)
