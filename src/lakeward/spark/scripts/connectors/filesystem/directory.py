"""Directory: files by way of Hadoop, which reaches whatever Spark reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Directory:
    """A directory of a file system."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        from py4j.protocol import Py4JError

        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self.root = self._path(path)
        try:
            self._files = self.root.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        except Py4JError as wrong:
            why = str(getattr(wrong, "java_exception", wrong)).splitlines()[0]
            hint = ": put hadoop-aws on its class path (spark.jars.packages)" if path.startswith("s3a") else ""
            raise ErrorCode.INVALID_CONFIG.error(f"Spark cannot reach {path}{hint}. {why}") from None

    def exists(self) -> bool:
        """Whether it is there."""
        return bool(self._files.exists(self.root))

    def inner(self, *names: str) -> str:
        """The path of something in it."""
        return "/".join([str(self.root.toString()).rstrip("/"), *names])

    def matches(self, pattern: str) -> list[str]:
        """Paths in it that a glob names."""
        found = self._files.globStatus(self._path(self.inner(pattern)))
        return [str(status.getPath().toString()) for status in (found or ())]

    def files(self, below: str) -> Iterator[tuple[str, str]]:
        """The files of a directory in it, as (directory below that one, name), those in hidden places left out."""
        root = self._path(self.inner(below))
        start = str(self._files.makeQualified(root).toString())
        found = self._files.listFiles(root, True)  # noqa: FBT003 - Java's signature
        while found.hasNext():
            path = str(found.next().getPath().toString()).removeprefix(start).strip("/")
            folder, _, name = path.rpartition("/")
            if not any(part.startswith(("_", ".")) for part in path.split("/")):
                yield folder, name

    def move(self, source: str, target: str) -> None:
        """Give a file in it another place in it."""
        place = self._path(self.inner(target))
        self._files.mkdirs(place.getParent())
        if not self._files.rename(self._path(self.inner(source)), place):
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"{self.inner(source)} could not be moved to {target}.")

    def remove(self, path: str) -> None:
        """Delete something, whatever is in it; nothing if it is not there."""
        self._files.delete(self._path(path), True)  # noqa: FBT003 - Java's signature
