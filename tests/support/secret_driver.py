"""A driver that uses passwords in every way Spark lets them be given, and writes down all that it is shown meanwhile.

`python secret_driver.py SETTINGS`: JSON with the bootstrap address, a directory, the users and their passwords. Plans,
Spark's own pages and the list of processes go into the directory, beside event logs, checkpoints and staged parts.
"""

from __future__ import annotations

import contextlib
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import psutil

import lakeward as lw

_USER, _PASSWORD = "client.security.sasl.username", "client.security.sasl.password"
_PAGES = ("environment", "sql?details=true&planDescription=true", "jobs", "stages?details=true")


class Driver:
    """One session, and what it shows."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._directory = Path(told["directory"])
        self._bootstrap = told["bootstrap"]
        self._users: dict[str, str] = told["users"]
        self._shown: list[str] = []
        conf = {
            _USER: "session",
            _PASSWORD: self._users["session"],
            **told["settings"],
            "spark.ui.port": "0",
        }
        self.spark = lw.spark.session(self._bootstrap, master="local[2]", **conf)

    def run(self) -> None:
        """Everything, one after the other."""
        self.catalog()
        for user in ("option", "env", "file"):
            self.by_options(user)
        self.python_source("option")
        self.stream("option")
        self.stream("env")
        self.lookup("option")
        self.script()
        self.running()
        self.refused()
        self._look_around()
        self._directory.joinpath("shown.txt").write_text("\n".join(self._shown))
        self.spark.stop()

    def catalog(self) -> None:
        """Tables of the session's catalog, by SQL; a session beside it has the same."""
        self.spark.sql("CREATE TABLE fluss.fluss.a (id INT, name STRING) TBLPROPERTIES ('primary.key' = 'id')")
        self.spark.sql("INSERT INTO fluss.fluss.a VALUES (1, 'one'), (2, 'two')")
        self.spark.sql("UPDATE fluss.fluss.a SET name = 'zwei' WHERE id = 2")
        frame = self.spark.newSession().table("fluss.fluss.a")
        assert frame.count() == 2
        self._show(frame)
        self._shown += [str(row) for row in self.spark.sql("SET").collect()]
        self._shown += [str(row) for row in self.spark.sql("DESCRIBE EXTENDED fluss.fluss.a").collect()]
        self._shown += [str(row) for row in self.spark.sql("SHOW CREATE TABLE fluss.fluss.a").collect()]

    def by_options(self, user: str) -> None:
        """A table by options, read and written."""
        options = self._options(user)
        rows = self.spark.sql("SELECT 3 AS id, 'three' AS name")
        rows.write.format("fluss").options(**options).mode("append").save()
        frame = self.spark.read.format("fluss").options(**options).load()
        assert frame.where("id = 3").count() == 1
        self._show(frame.where("id = 3"))

    def python_source(self, user: str) -> None:
        """The source in Python, which needs no jar."""
        source = type("Plain", (lw.spark.FlussDataSource,), {"name": classmethod(lambda _: "plain_fluss")})
        self.spark.dataSource.register(source)
        options = self._options(user)
        frame = self.spark.read.format("plain_fluss").options(**options).load()
        assert frame.count() == 3
        self._show(frame)
        frame.limit(0).write.format("plain_fluss").options(**options).mode("append").save()

    def stream(self, user: str) -> None:
        """From one table into another, with a checkpoint."""
        options = self._options(user)
        target = {**options, "table": f"fluss.copy_{user}"}
        self.spark.sql(f"CREATE TABLE fluss.{target['table']} (id INT, name STRING)")
        frame = self.spark.readStream.format("fluss").options(**options).option("scan.deletes", "ignore").load()
        query = (
            frame.writeStream.format("fluss")
            .options(**target)
            .option("checkpointLocation", str(self._directory / f"checkpoint-{user}"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(120)
        assert query.exception() is None, query.exception()
        self._shown += [json.dumps(dict(progress), default=str) for progress in query.recentProgress]
        assert self.spark.table(f"fluss.{target['table']}").count() == 3

    def lookup(self, user: str) -> None:
        """Rows looked up by Python workers."""
        place = {key: value for key, value in self._options(user).items() if key.startswith("client.")}
        join = lw.spark.lookup_join("fluss.a", on="id", bootstrap=self._bootstrap, **place)
        frame = self.spark.range(1, 3).selectExpr("CAST(id AS INT) AS id").transform(join)
        assert {row["name"] for row in frame.collect()} == {"one", "zwei"}
        self._show(frame)

    def script(self) -> None:
        """WITH options and catalogs of a script."""
        login = f"'{_USER}' = 'option', '{_PASSWORD}' = '{self._users['option']}'"
        script = lw.spark.script(self.spark, server=self._bootstrap)
        outcomes = script.run(
            f"CREATE CATALOG c WITH ('type' = 'fluss', 'bootstrap.servers' = '{self._bootstrap}', {login});"
            "CREATE TABLE a (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH"
            f" ('bootstrap.servers' = '{self._bootstrap}', 'table.name' = 'fluss.a', {login});"
            "SHOW CREATE TABLE a; DESCRIBE a; EXPLAIN SELECT * FROM a; SELECT count(*) FROM c.fluss.a;"
            f"CREATE VIEW v AS SELECT * FROM a /*+ OPTIONS({login}) */; SHOW CREATE VIEW v;"
            "SHOW CREATE CATALOG c; DESCRIBE CATALOG EXTENDED c;"
        )
        for outcome in outcomes:
            rows = outcome.rows().to_pylist() if outcome.has_rows else []
            self._shown.append(f"{outcome.message} {outcome.notices} {rows}")

    def running(self) -> None:
        """A catalog that the session is given while it runs, and a setting of a script."""
        login = {_USER: "option", _PASSWORD: self._users["option"]}
        spark = lw.spark.session(self._bootstrap, catalog="later", **login)
        assert spark.table("later.fluss.a").count() == 3
        outcomes = lw.spark.script(spark).run(f"SET 'spark.sql.x.password' = '{self._users['option']}'; SET; SELECT 1")
        self._shown += [f"{outcome.message} {outcome.rows() if outcome.has_rows else ''}" for outcome in outcomes]

    def refused(self) -> None:
        """A wrong password, as a catalog and by options: what Spark says of it."""
        options = {**self._options("option"), _PASSWORD: self._users["wrong"]}
        for name in ("fluss", "plain_fluss"):
            try:
                self.spark.read.format(name).options(**options).load().count()
            except Exception as wrong:  # noqa: BLE001 - Spark has its own for everything
                self._shown.append(str(wrong))
            else:
                raise AssertionError("a wrong password was right")

    def _options(self, user: str) -> dict[str, str]:
        kept = {"env": "${env:DRIVER_PASSWORD}", "file": f"file:{self._directory.parent / 'password'}"}
        return {
            "bootstrap.servers": self._bootstrap,
            "table": "fluss.a",
            _USER: user,
            _PASSWORD: kept.get(user, self._users[user]),
        }

    def _show(self, frame: Any) -> None:
        query = frame._jdf.queryExecution()
        extended = self.spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("extended")
        self._shown += [query.toString(), query.explainString(extended)]

    def _look_around(self) -> None:
        """Spark's pages, and every process that this one has started."""
        base = f"{self.spark.sparkContext.uiWebUrl}/api/v1/applications/{self.spark.sparkContext.applicationId}"
        for page in _PAGES:
            with urllib.request.urlopen(f"{base}/{page}") as answer:
                self._shown.append(answer.read().decode())
        for page in ("environment/", "SQL/", "jobs/", "StreamingQuery/"):
            with urllib.request.urlopen(f"{self.spark.sparkContext.uiWebUrl}/{page}") as answer:
                self._shown.append(answer.read().decode())
        me, lines = psutil.Process(), []
        for process in (me, *me.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # workers come and go
                lines.append(" ".join(process.cmdline()))
        assert any("lakeward.spark.bridge" in line for line in lines), lines
        self._shown += lines


def main() -> None:
    """Run with the settings of a file."""
    Driver(json.loads(Path(sys.argv[1]).read_text())).run()


if __name__ == "__main__":
    main()
