"""A SparkSession with Java, jar, catalog and settings in place."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode
from lakeward.runtime.process.child import Child, running_children
from lakeward.spark.setup.class_archive import BRISK, archive_options
from lakeward.spark.setup.ingest_sources import register_sources
from lakeward.spark.setup.jar import CATALOG_CLASS, EXTENSIONS_CLASS, jar_path
from lakeward.spark.setup.java_home import java_home
from lakeward.spark.setup.secret_settings import add_settings, open_settings, options_for

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LISTS = {"spark.jars": ",", "spark.sql.extensions": ",", _JAVA_OPTIONS: " "}


def session(
    bootstrap: str = "localhost:9123",
    *,
    master: str = "local[*]",
    app_name: str = "lakeward",
    catalog: str = "fluss",
    **conf: Any,
) -> SparkSession:
    """A SparkSession in which the tables of a cluster are `fluss.db.table`.

    `conf` are Spark's settings (`**{"spark.sql.shuffle.partitions": 8}`), and options of the client for all tables of
    the catalog (`**{"client.request-timeout": "10 s"}`). A session that runs already is taken if it has the jar.
    Secrets among them are on no command line and in no plan; `${env:NAME}` and `file:/path` are where they are kept.
    """
    given = {key: _text(value) for key, value in conf.items()}
    wanted = {**catalog_settings(bootstrap, catalog), **options_for(master, _catalog_options(given, catalog))}
    running = _running_session()
    if running is not None:
        return _add_catalog(running, wanted, catalog)
    return _start_session(master, app_name, wanted, {k: v for k, v in given.items() if k.startswith("spark.")})


def catalog_settings(bootstrap: str, catalog: str = "fluss") -> dict[str, str]:
    """The settings that put a cluster's tables into a session as a catalog; the jar comes on top."""
    return {f"spark.sql.catalog.{catalog}": CATALOG_CLASS, f"spark.sql.catalog.{catalog}.bootstrap.servers": bootstrap}


def local_settings(master: str) -> dict[str, str]:
    """What makes Spark quick and quiet on one machine; empty for a cluster, which has settings of its own."""
    always = {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.timeType.enabled": "true",  # a preview in Spark 4.1
    }
    if not master.startswith("local"):
        return always
    quiet = (Path(__file__).parents[1] / "log4j2.properties").as_uri()
    return always | {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        _JAVA_OPTIONS: f"-Dlog4j2.configurationFile={quiet} -Xss4m",
        "spark.sql.shuffle.partitions": str(max(2, _cores(master))),
        "spark.ui.showConsoleProgress": "false",
    }


def local_environment(master: str) -> dict[str, str]:
    """What a JVM on one machine must find in its environment: Spark's pages ask there where to listen, else on all."""
    return {"SPARK_LOCAL_IP": "127.0.0.1"} if master.startswith("local") else {}


def _cores(master: str) -> int:
    inside = master.partition("[")[2].partition("]")[0].split(",")[0]
    return int(inside) if inside.isdecimal() else len(os.sched_getaffinity(0)) if inside == "*" else 1


def start_context(master: str, app_name: str, conf: Mapping[str, str]) -> SparkContext:
    """Spark without its SQL, tables and data sources: for who only has tasks run, in half the time."""
    from pyspark import SparkConf, SparkContext

    _prepare(master)
    settings = _join_settings(_own_settings(master), conf)
    with _kept_jvm():
        _launch_jvm({**open_settings(settings), "spark.master": master, "spark.app.name": app_name})
        told = SparkConf().setMaster(master).setAppName(app_name).setAll(list(settings.items()))
        return SparkContext.getOrCreate(told)


def _start_session(master: str, app_name: str, wanted: Mapping[str, str], given: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    _prepare(master)
    of_sql = {"spark.sql.extensions": EXTENSIONS_CLASS, "spark.jars": jar_path()}
    settings = _join_settings({**_own_settings(master), **of_sql, **wanted}, given)
    _add_to_running_jvm(jar_path())
    builder = SparkSession.builder.master(master).appName(app_name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    with _kept_jvm():
        _launch_jvm({**open_settings(settings), "spark.master": master, "spark.app.name": app_name})
        return register_sources(builder.getOrCreate())


def _prepare(master: str) -> None:
    # Said at every use of Arrow and pandas 3, about parts of PySpark's pandas API that are not ours to use or mend.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", BRISK)  # of a Java that only puts the command line together
    for name, address in local_environment(master).items():
        os.environ.setdefault(name, address)


def _own_settings(master: str) -> dict[str, str]:
    settings = local_settings(master)
    settings["spark.pyspark.python"] = os.environ["PYSPARK_PYTHON"]  # a JVM that runs has not seen the variable
    classes = archive_options(Path(os.environ["JAVA_HOME"])) if master.startswith("local") else ""
    if classes:
        settings[_JAVA_OPTIONS] = f"{settings[_JAVA_OPTIONS]} {classes}"
    return settings


def _join_settings(settings: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    joined = dict(settings)
    for key, value in given.items():
        is_more = key in _LISTS and key in joined and joined[key] not in value
        joined[key] = f"{joined[key]}{_LISTS[key]}{value}" if is_more else value
    return joined


def _launch_jvm(settings: Mapping[str, str]) -> None:
    """Start PySpark's JVM, if none runs, with settings that everybody may read: they are its command line.

    All the others reach it with the session, which takes the JVM that runs.
    """
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))


@contextmanager
def _kept_jvm() -> Iterator[None]:
    """PySpark starts its JVM as a child that ends with this process, and at once where the start is given up.

    Left to itself the JVM looks for its parent only when it is up; until then it outlives it, and in the end complains
    to whoever has the terminal by then.
    """
    from pyspark import SparkContext, java_gateway

    names = vars(java_gateway)
    theirs = names["Popen"]
    begun = running_children()
    names["Popen"] = _start_java
    try:
        yield
    finally:
        names["Popen"] = theirs
        if SparkContext._gateway is None:
            for child in running_children() - begun:
                child.kill()  # it would only complain
                child.wait()


def _start_java(command: Any, **options: Any) -> Child:
    """Without what PySpark has run between fork and exec, which is for Ctrl-C, and a child is out of its reach anyway.

    A signal that comes in that moment would be ours to hear, in the half of us that is about to be Java.
    """
    return Child(command, **{name: value for name, value in options.items() if name != "preexec_fn"})


def _running_session() -> SparkSession | None:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _add_catalog(running: SparkSession, wanted: Mapping[str, str], catalog: str) -> SparkSession:
    """The session that runs, with the catalog in it; settings of the JVM can no longer be changed."""
    if not _knows_catalog(running):
        raise ErrorCode.INVALID_CONFIG.error(
            f"A Spark session is running already, without Lakeward's jar. Stop it first (spark.stop()), or start it "
            f"with spark.jars={jar_path()} and spark.sql.extensions={EXTENSIONS_CLASS}."
        )
    key = f"spark.sql.catalog.{catalog}.bootstrap.servers"
    present = running.conf.get(key, None)
    if present is not None and present != wanted[key]:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The running Spark session has catalog '{catalog}' at {present}, not at {wanted[key]}: stop it first "
            f"(spark.stop()), or give the second cluster a name of its own with catalog='…'."
        )
    add_settings(running, wanted)
    return register_sources(running)


def _knows_catalog(running: SparkSession) -> bool:
    return _loads(running.sparkContext._jvm, CATALOG_CLASS)


def _loads(jvm: Any, name: str) -> bool:
    from py4j.protocol import Py4JError

    try:
        jvm.java.lang.Class.forName(name, False, _class_loader(jvm))  # noqa: FBT003 - Java's signature
    except Py4JError:
        return False
    return True


def _class_loader(jvm: Any) -> Any:
    return jvm.java.lang.Thread.currentThread().getContextClassLoader()


def _add_to_running_jvm(jar: str) -> None:
    """PySpark's JVM outlives `spark.stop()`, and reads `spark.jars` for the driver only when it starts."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    if jvm is not None and not _loads(jvm, CATALOG_CLASS):
        _class_loader(jvm).addURL(jvm.java.io.File(jar).toURI().toURL())


def _catalog_options(given: Mapping[str, str], catalog: str) -> dict[str, str]:
    options = {}
    for key, value in given.items():
        if key.startswith("client."):
            options[f"spark.sql.catalog.{catalog}.{key}"] = value
        elif not key.startswith("spark."):
            raise ErrorCode.INVALID_CONFIG.error(
                f"{key!r} is no setting of Spark and no option of the client: names begin with 'spark.' or 'client.'."
            )
    return options


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
