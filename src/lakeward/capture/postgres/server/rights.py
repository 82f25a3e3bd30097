"""What a user must be allowed to do before a stream begins, asked without doing it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.capture.postgres.server.connections import Session, connect
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode

_PUBLICATION = "SELECT 1 FROM pg_publication WHERE pubname = %s"
_MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE')"
_OTHERS = "SELECT oid::regclass::text FROM pg_class WHERE oid = ANY(%s) AND NOT pg_has_role(relowner, 'USAGE')"


def check_rights(settings: ServerSettings, session: Session, tables: Sequence[int]) -> None:
    """Refuse a user who may not replicate, or not make the publication that is missing; `tables` are oids."""
    connect(settings, replicates=True).close()  # roles of managed servers allow it too: only the server knows
    if session.rows(_PUBLICATION, [settings.publication]):
        return
    others = [str(name) for (name,) in session.rows(_OTHERS, [list(tables)])]
    if others or not session.row(_MAY_CREATE)[0]:
        why = f"does not own {', '.join(others)}" if others else f"may not CREATE in database '{settings.database}'"
        raise ErrorCode.AUTHORIZATION.error(
            f"User '{settings.username}' {why} at {settings.server}, and so cannot make the publication"
            f" '{settings.publication}'. Make it as the owner of the tables: CREATE PUBLICATION {settings.publication}"
            " FOR TABLE … WITH (publish_via_partition_root = true)."
        )
