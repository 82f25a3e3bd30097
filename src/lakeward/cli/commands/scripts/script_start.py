"""ScriptStart: a session of Spark and a script on it, from what the command line says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lakeward
from lakeward.errors import ErrorCode
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence, is_of_spark
from lakeward.spark.setup.own_pool import FAIR
from lakeward.spark.setup.secret_settings import options_for

if TYPE_CHECKING:
    from lakeward.spark.scripts.jobs.jobs import Jobs
    from lakeward.spark.scripts.script import Script

WriteLine = Callable[[str], None]
_OF_CLIENT = "client."
_OF_SESSION = ("spark.", _OF_CLIENT)
#: Every stream asks its table for news this often while there is none; at 10 ms a dozen fill a core.
_OF_SCRIPTS = {**FAIR, "spark.sql.streaming.pollingDelay": "100ms"}


@dataclass(frozen=True, slots=True)
class ScriptStart:
    """Which server, which Spark, and settings: of scripts, of Spark and of the client."""

    server: str
    master: str
    settings: Mapping[str, str]
    log: Path
    """Where what Spark and its Java say goes."""

    def session(self) -> Any:
        """Spark, started now."""
        told = {key: value for key, value in self.settings.items() if key.startswith(_OF_SESSION)}
        given = {**_OF_SCRIPTS, **told}
        try:
            return lakeward.spark.session(self.server, master=self.master, **given)
        except Exception as wrong:
            if not is_of_spark(wrong):
                raise
            raise ErrorCode.INVALID_CONFIG.error(
                f"Spark did not start: {failure_sentence(wrong).rstrip('.')}.{self._last_words()}"
            ) from wrong

    def _last_words(self) -> str:
        """What Java said, if it said anything."""
        try:
            said = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        except OSError:
            return ""
        return f" Java said: {said[-1].rstrip('.')}. All of it is in {self.log}." if said else ""

    def script(self, spark: Any, jobs: Jobs, write_line: WriteLine = print) -> Script:
        """A script that has run nothing yet; `spark` is a session, or gives one when it is first needed.

        `write_line` shows what the connector `print` is given.
        """
        from lakeward.spark.scripts.script import Script

        return Script(
            spark,
            server=self.server,
            jobs=jobs,
            settings={key: value for key, value in self.settings.items() if not key.startswith(_OF_SESSION)},
            client_options=options_for(
                self.master, {key: value for key, value in self.settings.items() if key.startswith(_OF_CLIENT)}
            ),
            write_line=write_line,
        )
