"""Places for remote files: a directory, and a bucket of SeaweedFS on this machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.support.seaweed import SeaweedFs


@dataclass(frozen=True)
class Place:
    """Somewhere to copy to; `settings` are a server's options beside `remote.data.dir`."""

    name: str
    url: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def server_flags(self) -> tuple[str, ...]:
        """Arguments of `lakeward serve` for a server that copies here."""
        pairs = {"remote.data.dir": self.url, **self.settings}
        return tuple(part for key, value in pairs.items() for part in ("-D", f"{key}={value}"))

    def at(self, name: str) -> Place:
        """A directory of this place; no two servers copy to the same."""
        return replace(self, url=f"{self.url}/{name}")

    def obstore(self) -> Any:
        """The store, by obstore alone."""
        from obstore import store as stores

        if not self.settings:
            return stores.LocalStore(self.url, mkdir=True)
        bucket, _, prefix = self.url.removeprefix("s3://").partition("/")
        return stores.S3Store(
            bucket,
            prefix=prefix,
            endpoint=self.settings["s3.endpoint"],
            region=self.settings["s3.region"],
            access_key_id=self.settings["s3.access-key"],
            secret_access_key=self.settings["s3.secret-key"],
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )

    def arrow(self) -> tuple[Any, str]:
        """The store by pyarrow, and its root there."""
        from pyarrow import fs

        if not self.settings:
            return fs.LocalFileSystem(), self.url
        return fs.S3FileSystem(
            endpoint_override=self.settings["s3.endpoint"].removeprefix("http://"),
            scheme="http",
            region=self.settings["s3.region"],
            access_key=self.settings["s3.access-key"],
            secret_key=self.settings["s3.secret-key"],
        ), self.url.removeprefix("s3://")


@contextmanager
def places() -> Iterator[list[Place]]:
    """A directory and a bucket, each empty."""
    directory = Path(tempfile.mkdtemp(prefix="lakeward-bench-remote-"))
    try:
        with SeaweedFs() as seaweed:
            bucket = seaweed.new_bucket()
            yield [Place("a directory", str(directory)), Place("SeaweedFS", bucket.url, bucket.settings)]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
