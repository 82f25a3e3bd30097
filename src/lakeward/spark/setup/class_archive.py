"""Classes of Spark in an archive, read and checked once: a Java that has it starts in about half the time.

Java makes it when it ends, of what it has loaded, and looks itself whether an archive is of its own version and jars;
if not, it reads its jars as always. Ours lie in the user's cache, one for each Java and PySpark.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.spark.setup.java_home import cache_directory

#: For a Java that lives for seconds, or does little: no second compiler, no threads to collect garbage.
BRISK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
#: Java tells of an archive that does not fit, each time; of what is wrong elsewhere it goes on to tell.
_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
_KEPT = 3
_SUFFIX = ".jsa"


def archive_options(home: Path, environ: Mapping[str, str] = os.environ) -> str:
    """What to tell a Java so that it uses the archive; nothing where there is none, or somebody chose one."""
    if "Archive" in environ.get("SPARK_SUBMIT_OPTS", ""):
        return ""
    archive = archive_of(home, environ)
    if archive is None or not archive.exists() or " " in str(archive):
        return ""
    return f"-XX:SharedArchiveFile={archive} {_SILENT}"


def archive_of(home: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where the archive for a Java and the installed PySpark is, or would be; None where there can be none."""
    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        return None
    jars = Path(pyspark.origin).parent / "jars"
    try:
        release = (home / "release").read_text()
        names = sorted(f"{entry.name} {entry.stat().st_size}" for entry in os.scandir(jars))
        directory = cache_directory(environ)
    except (OSError, LakewardError):
        return None
    known_by = "\0".join([str(home.resolve()), release, str(jars), *names])
    return directory / f"spark-classes-{hashlib.sha256(known_by.encode()).hexdigest()[:16]}{_SUFFIX}"


def make_room(directory: Path) -> None:
    """Remove the archives that are oldest: each update of Java or PySpark leaves one behind."""
    found = sorted(directory.glob(f"spark-classes-*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found[_KEPT - 1 :]:
        path.unlink(missing_ok=True)
