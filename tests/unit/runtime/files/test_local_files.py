"""What belongs to disks of this machine alone; what all files can do is in tests/behaviour."""

from __future__ import annotations

import os

from lakeward.runtime.files.local_files import space_of


def test_what_is_kept_for_root_counts_as_df_counts_it() -> None:
    """A disk of 100 blocks, 20 of them in use and 60 kept back: a third of what there is for us is in use."""
    found = os.statvfs_result((4096, 1024, 100, 80, 20 * 2, 0, 0, 0, 0, 255))
    assert space_of(found) == (40 * 1024, 60 * 1024)
