"""MarksFile: the high watermarks of a moment ago, in a file: from there on a follower compares after a crash."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from lakeward.model.bucket import TableBucket
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file
from lakeward.storage.log.log_tablet import Later

_log = logging.getLogger(__name__)
_NAME = "high-watermarks.json"
_VERSION = 1


class MarksFile:
    """Read when the server starts, written when something has changed."""

    def __init__(self, disk: Files, root: Path, later: Later) -> None:
        self._disk = disk
        self._path = root / _NAME
        self._later = later
        self._found = self._read()
        self._noted: dict[TableBucket, int] = {}

    def before(self, bucket: TableBucket) -> int | None:
        """What an earlier life has left of a bucket."""
        return self._found.get(bucket)

    def note(self, marks: Mapping[TableBucket, int]) -> None:
        """Have them written, soon and elsewhere. An older one is never wrong: more is compared than has to be."""
        if marks == self._noted:
            return
        self._noted = dict(marks)
        rows = [[bucket.table_id, bucket.partition_id, bucket.bucket, mark] for bucket, mark in marks.items()]
        content = json.dumps({"version": _VERSION, "buckets": rows}).encode()
        self._later(lambda: replace_file(self._disk, self._path, content, durable=False))

    def _read(self) -> dict[TableBucket, int]:
        try:
            node = json.loads(self._disk.read_bytes(self._path))
            return {TableBucket(table, partition, number): mark for table, partition, number, mark in node["buckets"]}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as wrong:
            _log.warning(
                "%s cannot be read (%s): logs are compared with their leaders from the start", self._path, wrong
            )
            return {}
