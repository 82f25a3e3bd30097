"""House: what all protocols share. Who comes in, where questions are answered, and what the tables are."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.sql_server.access.accounts import Accounts
from lakeward.sql_server.frame.settings import SqlServerSettings
from lakeward.sql_server.work.alarms import Alarms
from lakeward.sql_server.work.places import Places
from lakeward.sql_server.work.short import Lanes, lane_bounds
from lakeward.sql_server.work.statement import Desk

_WAITING_MAX = 1000


@dataclass(frozen=True, slots=True)
class House:
    """One running SQL server."""

    settings: SqlServerSettings
    clock: Clock
    entropy: Entropy
    accounts: Accounts
    desk: Desk

    @classmethod
    def of(cls, settings: SqlServerSettings, clock: Clock, entropy: Entropy) -> House:
        """A server by its settings."""
        of_one = max(settings.questions_max // 2, 1)
        alarms = Alarms(clock)
        desk = Desk(
            Places(settings.questions_max, of_one, _WAITING_MAX, clock),
            Lanes(_WAITING_MAX, lane_bounds(settings.memory_bytes), clock, alarms),
            alarms,
            clock,
            DuckBounds(memory_bytes=settings.memory_bytes),
            settings.time_limit_s,
        )
        accounts = Accounts(settings.bootstrap, settings.options, settings.lake, clock, entropy)
        return cls(settings, clock, entropy, accounts, desk)

    def close(self) -> None:
        """Let go of everything."""
        self.desk.alarms.close()
        self.accounts.close()
