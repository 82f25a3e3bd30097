"""Whose replicas a data directory holds: tables and buckets have numbers, and every cluster gives the same ones.

<data.dir>/
  cluster.json      the cluster whose replicas are here
"""

from __future__ import annotations

import json
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file
from lakeward.storage.disk.directories import has_metadata

FILE_NAME = "cluster.json"


def check_home(disk: Files, root: Path, cluster: str) -> None:
    """Refuse rows of somebody else: this cluster's tables of the same numbers would get them, or they would be cut."""
    root = disk.resolve(root)
    if has_metadata(disk, root):
        raise ErrorCode.STORAGE.error(
            f"The data directory {root} is one of `lakeward serve`, and its rows are no replicas of this cluster. "
            "Choose another --data-dir; `lakeward copy` brings its tables here."
        )
    file = root / FILE_NAME
    if not disk.exists(file):
        return
    try:
        known = str(json.loads(disk.read_bytes(file))["cluster"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise ErrorCode.STORAGE.error(f"{file} does not say whose replicas are here: {wrong!r}.") from wrong
    if known != cluster:
        raise ErrorCode.STORAGE.error(
            f"The data directory {root} holds replicas of another cluster ({known}; this one is {cluster}), or of this "
            "one before its ZooKeeper was made anew: its tables have the numbers of others here. Choose an empty "
            f"--data-dir; or, if it is known to be the same cluster, remove {file}."
        )


def note_home(disk: Files, root: Path, cluster: str) -> None:
    """Remember whose replicas are here."""
    file = disk.resolve(root) / FILE_NAME
    if not disk.exists(file):
        replace_file(disk, file, json.dumps({"cluster": cluster}).encode() + b"\n")
