"""DemoLake: a tiering service beside the demo, in a process of its own that gives way to everything else."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import count, say
from lakeward.errors import LakewardError
from lakeward.options.table import LAKE_ENABLED
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.process.child import Child

if TYPE_CHECKING:
    from lakeward.cli.demo.home import DemoHome
    from lakeward.cli.demo.screen import DemoScreen
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

ENGINES = ("spark", "local", "none")
#: How a table is created that goes into the lake.
PROPERTIES = {
    "table.datalake.enabled": "true",
    "table.datalake.format": "iceberg",
    "table.datalake.freshness": "5s",
    "table.datalake.auto-compaction": "true",
}
_ROUND = re.compile(r": ([\d,]+) rows?, .* snapshot \d+$")
_LAST_ROUND_S = 5
_STOP_S = 20
_NICENESS = 10


def engine_or_default(engine: str | None) -> str:
    """What was asked for, else the best that is installed."""
    if engine is not None:
        return engine
    if find_spec("pyiceberg") is None:
        return "none"
    return "spark" if find_spec("pyspark") is not None and _has_java() else "local"


def _has_java() -> bool:
    from lakeward.spark.setup.java_home import java_home

    try:
        java_home()
    except LakewardError:
        return False
    return True


class DemoLake:
    """Starts the service when it is entered, and stops it at the end; tells when rows are in the lake."""

    def __init__(
        self, conn: Connection, table: Table, bootstrap: str, home: DemoHome, engine: str, screen: DemoScreen
    ) -> None:
        self._conn = conn
        self._table = table
        self._bootstrap = bootstrap
        self._home = home
        self._log_path = home.directory / "tiering.log"
        self._engine = engine
        self._screen = screen
        self._rows = 0
        self._process: Child | None = None
        self._reader = threading.Thread(target=self._tell, name="demo-lake", daemon=True)

    @property
    def properties(self) -> dict[str, str] | None:
        """How the lake's catalog is opened; None while nothing is moved into a lake."""
        return None if self._process is None else self._home.lake

    def __enter__(self) -> Self:
        if self._engine == "none":
            return self
        if not LAKE_ENABLED.read(self._table.info.descriptor.properties):
            say(f"The orders of an earlier run are not tiered into a lake; remove {self._home.directory} for that.")
            return self
        command = ["tier", "--bootstrap", self._bootstrap, "--engine", self._engine]
        command += [word for key, value in self._home.lake.items() for word in ("--lake", f"{key}={value}")]
        with self._log_path.open("w") as log:
            self._process = Child(
                [sys.executable, "-m", "lakeward", *command],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **self._home.environment},
            )
        with contextlib.suppress(OSError):  # the live tail comes first
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICENESS)
        self._reader.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is None:
            return
        if self._rows and self._home.is_kept:
            self.finish()
        else:
            say("\nStopping …")
        self._process.stop(_STOP_S)
        self._reader.join()
        if self._rows and self._home.is_kept:
            self._explain()

    def finish(self) -> None:
        """Have the newest orders in the lake too."""
        say("\nThe last orders go into the lake …")
        from lakeward.cli.commands.lake.tier_status import wait_for_lake
        from lakeward.tiering.watch.orders import ask_for_round

        with contextlib.suppress(LakewardError, Failure):  # the next run goes on with them
            asked = ask_for_round(self._conn, self._table, SystemClock().now_ms())
            wait_for_lake(self._conn, self._table, asked, _LAST_ROUND_S)

    def _tell(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                found = _ROUND.search(line.strip())
                if found is None:
                    say(line.strip())
                    continue
                self._rows += int(found[1].replace(",", ""))
                if not self._screen.is_live:  # it has a place for such figures
                    say(f"── {count(int(found[1].replace(',', '')), 'order')} more in the lake, {self._home.warehouse}")

    def _explain(self) -> None:
        if self._home.bucket is not None:  # it ends with the demo
            say(f"{count(self._rows, 'order')} of this run are in an Iceberg table below {self._home.warehouse}.")
            return
        warehouse = self._home.warehouse
        folder = f"{warehouse}/{str(self._table.path).replace('.', '/')}"
        catalog = f"load_catalog('lakeward', type='sql', uri='sqlite:///{warehouse}/catalog.db')"
        say(
            f"{count(self._rows, 'order')} of this run are in an Iceberg table; whatever knows Iceberg reads it:\n"
            f"  duckdb   SET unsafe_enable_version_guessing=true; FROM iceberg_scan('{folder}');\n"
            f"  Python   from pyiceberg.catalog import load_catalog\n"
            f"           {catalog}.load_table('{self._table.path}').scan().to_pandas()"
        )
