"""directory_at: the directory that a path or URI names, of this machine or of a file system that pyarrow knows."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.client.staged.parts.directory import Directory, LocalDirectory
from lakeward.client.staged.parts.remote_directory import RemoteDirectory

#: Hadoop's names of file systems that pyarrow calls otherwise.
_HADOOP_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
_RENAME_REFUSES = {"hdfs", "viewfs"}


def directory_at(place: str | os.PathLike[str]) -> Directory:
    """The directory of a path, or of a URI as Hadoop or pyarrow write it."""
    text = os.fspath(place)
    parts = urlsplit(text)
    if len(parts.scheme) < 2:  # none, or the letter of a drive
        return LocalDirectory(Path(text))
    if parts.scheme == "file":
        return LocalDirectory(Path(unquote(parts.path)))
    scheme = _HADOOP_SCHEMES.get(parts.scheme, parts.scheme)
    return RemoteDirectory(scheme + text[len(parts.scheme) :], rename_refuses=scheme in _RENAME_REFUSES)
