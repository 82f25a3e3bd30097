"""DemoHome: where the demo keeps everything; a directory, or, but for what is hot, a bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.cli.demo.child_bucket import BUCKET
from lakeward.cli.output.listing import count, say
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.cli.demo.child_bucket import ChildBucket

_LAKE, _REMOTE = "lake", "remote"
#: Small and often, so that there is something to see.
_EAGER = {
    "remote.log.task-interval-duration": "5 s",
    "remote.log.sync": "10 s",
    "kv.snapshot.interval": "30 s",
}


@dataclass(frozen=True, slots=True)
class DemoHome:
    """A directory; with a bucket the lake, closed segments and snapshots are there."""

    directory: Path
    bucket: ChildBucket | None = None
    #: What child processes find in their environment.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Whether it is there after the demo.
    is_kept: bool = True

    @property
    def warehouse(self) -> str:
        """Where the lake is, as people read it."""
        return str(self.directory / _LAKE) if self.bucket is None else f"s3://{BUCKET}/{_LAKE}"

    @property
    def lake(self) -> dict[str, str]:
        """How the lake's catalog is opened."""
        if self.bucket is None:
            return {"warehouse": str((self.directory / _LAKE).absolute())}
        return {"warehouse": self.warehouse, **self.bucket.settings}

    @property
    def server_options(self) -> dict[str, str]:
        """Options of the server."""
        if self.bucket is None:
            return {}
        return {
            "remote.data.dir": f"s3://{BUCKET}/{_REMOTE}",
            "datalake.format": "iceberg",
            "datalake.iceberg.warehouse": self.warehouse,
            **self.bucket.server_settings,
            **_EAGER,
        }

    def tell_bucket(self) -> None:
        """Say what is in the bucket, folder by folder."""
        if self.bucket is None:
            return
        from lakeward.lake.files.blocking_store import blocking_store

        try:
            store = blocking_store(f"s3://{BUCKET}", self.bucket.settings)
            for title, folder in (("the lake", _LAKE), ("closed segments, snapshots, metadata", _REMOTE)):
                found = store.list(folder)
                size = sum(file.size for file in found)
                say(f"In s3://{BUCKET}/{folder} are {count(len(found), 'file')}, {size:,} bytes: {title}.")
        except LakewardError as wrong:
            say(wrong.message)
