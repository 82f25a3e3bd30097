"""Versions of Paimon's files: which are read here, and what is said of the others."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import LakePath


class PaimonFile(Enum):
    """A kind of file with a version of its own: what we write, and what we read."""

    #: Tables from before 0.9 have other defaults: ORC files, one bucket.
    SCHEMA = "schema", 3, {3}
    SNAPSHOT = "snapshot", 3, {1, 2, 3}
    MANIFEST = "manifest", 2, {2}

    def __init__(self, word: str, written: int, read: Collection[int]) -> None:
        self.word = word
        self.written = written
        self.read = read

    def check(self, version: int, path: LakePath) -> None:
        """Refuse a file that would be misread."""
        if version not in self.read:
            known = " and ".join(map(str, sorted(self.read)))
            remedy = (
                "rewrite the table with Paimon 0.9 or newer"
                if version < self.written
                else "read and write the table with a Lakeward that knows it, or with Paimon itself"
            )
            raise ErrorCode.INVALID_TABLE.error(
                f"The lake's table {path.parent.parent} has a {self.word} of version {version} ({path.name}), "
                f"and {known} are read here: {remedy}."
            )
