"""Spark's classes, read and checked once: an archive from which every Java of the tests starts in half the time.

Run as a program it makes the archive: it starts Spark, does a little of everything, and has Java write down the classes
that it loaded. A Java that finds no archive, or one of other jars, reads its jars as it always does.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from server_process import ServerProcess

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
#: A JVM that lives for seconds is not worth the second compiler.
BRISK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
OF_ARCHIVE = f"-XX:SharedArchiveFile={ARCHIVE} -Xlog:disable"
_SCRIPT = """
CREATE TABLE events (id BIGINT, k BIGINT, at TIMESTAMP(3)) WITH ('bucket.num' = '1');
CREATE TABLE totals (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket.num' = '1');
INSERT INTO events VALUES (1, 1, TIMESTAMP '2026-01-01 00:00:00'), (2, 1, TIMESTAMP '2026-01-01 00:00:01');
INSERT INTO totals SELECT k, COUNT(*) FROM events GROUP BY k;
"""


def main() -> None:
    """Make the archive."""
    with tempfile.TemporaryDirectory(dir=ARCHIVE.parent) as name:
        made = Path(name) / ARCHIVE.name
        os.environ["SPARK_SUBMIT_OPTS"] = f"{BRISK} -XX:ArchiveClassesAtExit={made} -Xlog:disable"
        with ServerProcess(Path(name) / "data") as server:
            _use_spark(server.bootstrap, Path(name))
        if made.exists():
            made.replace(ARCHIVE)


def _use_spark(bootstrap: str, directory: Path) -> None:
    import lakeward as lw
    from lakeward.runtime.process.child import running_children
    from lakeward.spark.scripts.jobs.job_home import JobHome
    from lakeward.spark.scripts.jobs.jobs import Jobs
    from lakeward.spark.scripts.script import Script

    before = running_children()
    session = lw.spark.session(bootstrap, master="local[2]", **{"spark.ui.enabled": "false"})
    java = running_children() - before
    script = Script(session, server=bootstrap, jobs=Jobs(JobHome(directory / "jobs")))
    script.run(f"CREATE CATALOG here WITH ('type' = 'fluss', 'bootstrap.servers' = '{bootstrap}'); USE CATALOG here;")
    script.run(f"CREATE DATABASE some; USE some; {_SCRIPT}")
    for job in script.jobs.running:
        for stream in job.streams:
            stream.query.processAllAvailable()
    script.jobs.stop()
    script.run("SELECT * FROM totals ORDER BY k")[0].rows()
    session.createDataFrame([(1, 2.0)], "a INT, b DOUBLE").toPandas()
    session.range(3).mapInArrow(lambda batches: batches, "id BIGINT").collect()
    jvm = session.sparkContext._jvm
    session.stop()
    assert jvm is not None
    with contextlib.suppress(OSError):  # it is gone before it answers
        jvm.java.lang.System.exit(0)
    for process in java:
        process.wait(120)


if __name__ == "__main__":
    main()
