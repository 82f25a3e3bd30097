"""`python -m lakeward.spark.setup.make_archive`: makes the archive of Spark's classes for this Java and PySpark.

A tiering service has it made beside its work, once; whoever sets up a machine may call it before. It starts Spark, does
a little of what our commands do, and has Java write down the classes that it loaded.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from pathlib import Path

from lakeward.runtime.process.child import Child, running_children
from lakeward.spark.setup.class_archive import archive_of, archive_options, make_room
from lakeward.spark.setup.java_home import java_home
from lakeward.spark.setup.spark_session import session

#: The first rounds of a service have the machine to themselves.
_PAUSE_S = 60.0
_NICEST = 19
_END_S = 120


def make_archive_beside(pause_s: float = _PAUSE_S) -> None:
    """Begin to make the archive in a while, in a process that gives way to all others, if there is none."""
    home = java_home()
    if archive_options(home) or archive_of(home) is None or "Archive" in os.environ.get("SPARK_SUBMIT_OPTS", ""):
        return
    later = threading.Timer(pause_s, lambda: Child([sys.executable, "-m", __name__], **_unheard()))
    later.daemon = True
    later.start()


def _unheard() -> dict[str, object]:
    quiet = os.open(os.devnull, os.O_RDWR)
    return {"stdin": quiet, "stdout": quiet, "stderr": quiet}


def make_archive() -> Path | None:
    """Make the archive, if there is none; where it is."""
    archive = archive_of(java_home())
    if archive is None or archive.exists():
        return archive
    with tempfile.TemporaryDirectory(dir=archive.parent) as name:
        made = Path(name) / archive.name
        os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:ArchiveClassesAtExit={made} -Xlog:disable"
        _use_spark()
        if made.exists():
            make_room(archive.parent)
            made.replace(archive)
    return archive if archive.exists() else None


def _use_spark() -> None:
    from py4j.protocol import Py4JError

    before = running_children()
    spark = session(master="local[2]", app_name="lakeward classes", **{"spark.ui.enabled": "true"})
    java = running_children() - before
    spark.sparkContext.parallelize([1, 2], 2).map(str).collect()
    spark.range(3).mapInArrow(lambda batches: batches, "id BIGINT").collect()
    spark.createDataFrame([(1, 2.0)], "a INT, b DOUBLE").groupBy("a").count().collect()
    jvm = spark.sparkContext._jvm
    spark.stop()
    assert jvm is not None
    with contextlib.suppress(OSError, Py4JError):  # it is gone before it answers
        jvm.java.lang.System.exit(0)
    for process in java:
        process.wait(_END_S)


if __name__ == "__main__":
    os.nice(_NICEST)
    make_archive()
