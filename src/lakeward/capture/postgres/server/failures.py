"""What PostgreSQL says when it refuses, as sentences that name what to do; the one place where its errors are read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode, LakewardError, RetriableError

#: Codes of SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html
_NO_PASSWORD, _WRONG_PASSWORD, _NO_DATABASE = "28000", "28P01", "3D000"
_DENIED, _NO_TABLE, _NO_COLUMN, _NO_OBJECT = "42501", "42P01", "42703", "42704"
_IN_USE, _NOT_READY, _NO_ROOM, _TOO_MANY = "55006", "55000", "53400", "53300"
#: What libpq calls PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR and PGRES_FATAL_ERROR, and PG_DIAG_SQLSTATE.
_FAILURES, _SQLSTATE = (5, 6, 7), 67
_AWAY = re.compile(r"57P0\d|08\w{3}|57014|25P0[34]")


class SlotInUseError(Exception):
    """The slot is read by another process just now."""


class NoRoomError(Exception):
    """All slots or senders of the server are taken just now."""


@contextlib.contextmanager
def map_failures(settings: ServerSettings, hang_up: Callable[[], None] | None = None) -> Iterator[None]:
    """Errors of the library become ours; a connection that was lost is closed."""
    try:
        yield
    except (LakewardError, SlotInUseError, NoRoomError):
        raise
    except Exception as wrong:
        if not type(wrong).__module__.startswith("psycopg"):
            raise
        failure = failure_of(wrong, settings)
        if hang_up is not None and isinstance(failure, RetriableError):
            hang_up()
        raise failure from None


def failure_of(wrong: Any, settings: ServerSettings) -> Exception:
    """The error to raise for one of the library's."""
    text = str(wrong).strip()
    return failure_of_state(getattr(wrong, "sqlstate", None), text, settings)


def failure_of_state(state: str | None, text: str, settings: ServerSettings) -> Exception:
    """The error to raise for a code and a text of the server."""
    said = _first_line(text, settings)
    user, server, database = settings.username, settings.server, settings.database
    if state == _IN_USE and "slot" in text:
        return SlotInUseError(said)
    if state == _NO_ROOM or (state == _TOO_MANY and "wal" in text.lower()):
        return NoRoomError(said)
    if "password authentication failed" in text or "no password supplied" in text or state == _WRONG_PASSWORD:
        return ErrorCode.AUTHENTICATE.error(
            f"PostgreSQL at {server} refused the password of user '{user}'; correct 'username' and 'password'."
        )
    if "pg_hba.conf" in text or state == _NO_PASSWORD:
        return ErrorCode.AUTHENTICATE.error(
            f"PostgreSQL at {server} does not let user '{user}' in from here: {said}. Its administrator must allow it"
            " in pg_hba.conf."
        )
    if state == _NO_DATABASE or re.search(r'database "[^"]*" does not exist', text):
        return ErrorCode.DATABASE_NOT_EXIST.error(f"There is no database '{database}' at {server}: {said}.")
    if "wal_level" in text:
        return wal_level_error(settings)
    if state == _DENIED or "permission denied" in text:
        return _denial(said, text, settings)
    if state in {_NO_TABLE, _NO_COLUMN}:
        return ErrorCode.TABLE_NOT_EXIST.error(f"A table of database '{database}' at {server} was changed: {said}.")
    if state == _NO_OBJECT and "slot" in text:
        return slot_gone_error(settings)
    if state == _NO_OBJECT and "publication" in text:
        return ErrorCode.INVALID_CONFIG.error(
            f"The publication '{settings.publication}' of database '{database}' at {server} was not there when these"
            f" changes were committed: {said}. Drop the slot (SELECT pg_drop_replication_slot('{settings.slot}')) and"
            " start the stream anew."
        )
    if state == _NOT_READY and ("invalidated" in text or "no longer" in text or "can no longer get changes" in text):
        return slot_lost_error(settings)
    if "requested WAL segment" in text:
        return slot_lost_error(settings)
    if state is None or _AWAY.fullmatch(state):
        return ErrorCode.NETWORK.error(f"PostgreSQL at {server} cannot be reached, or the connection broke: {said}.")
    if state == _TOO_MANY:
        return ErrorCode.NETWORK.error(f"PostgreSQL at {server} has no connection to spare: {said}.")
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"PostgreSQL at {server} refused (SQLSTATE {state}): {said}.")


def check_answer(answer: Any, settings: ServerSettings) -> None:
    """Raise what a result of libpq says, if it is an error."""
    if answer.status in _FAILURES:
        state = answer.error_field(_SQLSTATE)
        text = answer.error_message.decode(errors="replace")
        raise failure_of_state(state and state.decode(), text, settings)


def _denial(said: str, text: str, settings: ServerSettings) -> LakewardError:
    user = settings.username
    if "replication" in text or "WAL sender" in text:
        hint = f"Run as a superuser: ALTER ROLE {user} REPLICATION"
    elif "publication" in text or "must be owner" in text or "permission denied for database" in text:
        hint = (
            f"Make the publication as the owner of the tables: CREATE PUBLICATION {settings.publication} FOR TABLE …"
            " WITH (publish_via_partition_root = true)"
        )
    else:
        hint = f"Run as its owner: GRANT SELECT ON … TO {user}, and GRANT USAGE ON SCHEMA … TO {user}"
    return ErrorCode.AUTHORIZATION.error(f"User '{user}' may not do this at {settings.server}: {said}. {hint}.")


def wal_level_error(settings: ServerSettings) -> LakewardError:
    """The server does not write what a capture needs."""
    return ErrorCode.INVALID_CONFIG.error(
        f"PostgreSQL at {settings.server} does not write what is needed to follow its changes. Run ALTER SYSTEM SET"
        " wal_level = 'logical' as a superuser, and restart the server."
    )


def slot_gone_error(settings: ServerSettings) -> LakewardError:
    """The slot is not there, so the log may not be either."""
    return ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
        f"The replication slot '{settings.slot}' is not on {settings.server} any more, so changes may be lost. Start"
        " the stream anew, without its checkpoint: it copies the tables again."
    )


def slot_lost_error(settings: ServerSettings) -> LakewardError:
    """The server has thrown away what the slot was to keep."""
    return ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
        f"The server {settings.server} has thrown away changes that the replication slot '{settings.slot}' still"
        " needed, since they took more than max_slot_wal_keep_size. Run SELECT"
        f" pg_drop_replication_slot('{settings.slot}'), and start the stream anew, without its checkpoint."
    )


def _first_line(text: str, settings: ServerSettings) -> str:
    line = text.splitlines()[0].strip().rstrip(".") if text else "it said nothing"
    line = line.removeprefix("ERROR:").removeprefix("FATAL:").strip()
    return line.replace(settings.password, "***") if settings.password else line
