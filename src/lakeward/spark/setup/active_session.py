"""The session that Spark takes for the active one of a thread, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Make this session the active one, then the one that was: some calls ask or change that, whichever they are of."""
    sessions: Any = session._jvm.SparkSession  # type: ignore[union-attr]
    in_java, in_python = sessions.getActiveSession(), type(session)._activeSession
    sessions.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        type(session)._activeSession = in_python
        if in_java.isDefined():
            sessions.setActiveSession(in_java.get())
        else:
            sessions.clearActiveSession()
