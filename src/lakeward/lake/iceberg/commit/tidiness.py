"""Which places have gathered too many files or deletes, and are rewritten in the next round that touches them.

A primary key table is tidied up by its own rounds, a few places at a time: a round then costs little more than without,
no other commit can get in its way, and readers never have many deletes to apply.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.iceberg.commit.live_files import LiveFiles
from lakeward.lake.port import LakePlace

#: Position delete files that a place may gather, and data files beyond what its size needs.
_DELETE_FILES_MAX = 5
_SMALL_FILES_MAX = 8
_SMALL_BYTES = 32 << 20
#: Share of the touched places that one round rewrites; at least one.
_SHARE = 4


def worst_places(files: Mapping[LakePlace, LiveFiles]) -> set[LakePlace]:
    """The places to rewrite in this round: the worst, and only some of them."""
    debts = {place: _debt(found) for place, found in files.items()}
    untidy = sorted((p for p, debt in debts.items() if debt > 0), key=lambda p: debts[p], reverse=True)
    return set(untidy[: max(1, len(files) // _SHARE)])


def _debt(files: LiveFiles) -> int:
    small = sum(f.file_size_in_bytes < _SMALL_BYTES for f in files.data)
    return max(len(files.position_deletes) - _DELETE_FILES_MAX, small - _SMALL_FILES_MAX, 0)
