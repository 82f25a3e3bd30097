"""A database that a task leaves open is the next task's, and is closed when nobody comes."""

from __future__ import annotations

from typing import Any

import pytest
from eventually import eventually

from lakeward.capture.databases import DatabaseKind
from lakeward.spark.ingest.capture import kept_databases
from lakeward.spark.ingest.capture.capture_options import CaptureOptions
from lakeward.spark.ingest.capture.kept_databases import leave_database, take_database

OPTIONS = CaptureOptions.of(DatabaseKind.MYSQL, {"hostname": "db"})


def test_what_was_left_open_is_taken_once() -> None:
    """By the same options; whoever comes second gets one of his own."""
    database = take_database(OPTIONS)
    leave_database(OPTIONS, database)
    assert take_database(OPTIONS) is database
    assert take_database(OPTIONS) is not database


def test_what_nobody_comes_back_for_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, and then it is not handed out."""
    monkeypatch.setattr(kept_databases, "_IDLE_S", 0.0)
    closed: list[Any] = []
    database = take_database(OPTIONS)
    monkeypatch.setattr(database, "close", lambda: closed.append(database))
    leave_database(OPTIONS, database)
    assert eventually(lambda: closed == [database])
    assert take_database(OPTIONS) is not database
