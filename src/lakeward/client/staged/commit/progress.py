"""Progress: how much of a manifest the log holds already. Decides, asks nobody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakeward.client.staged.parts.manifest import SEQUENCES, BucketAppend
from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import BatchHeader


def stored_batches(
    to: BucketAppend, headers: Iterable[BatchHeader], *, from_start: bool = True, compacted: bool = False
) -> int:
    """How many batches of an append the log holds, judged by the headers from its start offset on.

    Batches of one writer stand in the log in the order of their sequences, each once. With `from_start` False the
    beginning is gone from the log: whatever precedes the first batch that is seen was stored too. So it is in a log
    that is compacted, which keeps rows but not who wrote them; there, nothing seen means: ask the server, by sending.
    """
    stored: int | None = 0 if from_start and not compacted else None
    for header in headers:
        if header.writer_id != to.writer_id:
            continue
        number = (header.batch_sequence - to.first_sequence) % SEQUENCES
        if number >= len(to.batches):
            continue  # of a commit before or behind this one
        if stored is not None and number != stored and not compacted:
            raise ErrorCode.CORRUPT_RECORD.error(
                f"The log of {to} holds batch {header.batch_sequence} of writer {to.writer_id} at offset "
                f"{header.base_offset}, where batch {(to.first_sequence + stored) % SEQUENCES} was to come. "
                "Nothing more is appended."
            )
        stored = number + 1
    if stored is None and compacted and from_start:
        return 0
    if stored is None:
        raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
            f"The log of {to} begins behind offset {to.start_offset}, so nobody can tell how much of an interrupted "
            "commit it has held. Retention has overtaken the query: check the rows, then delete the manifest."
        )
    return stored


def rest_of(to: BucketAppend, stored: int) -> BucketAppend:
    """The append without the batches that are stored."""
    if not stored:
        return to
    return replace(to, first_sequence=(to.first_sequence + stored) % SEQUENCES, batches=to.batches[stored:])
