"""What a session does with each kind of statement: answer it, obey it, or say why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa

from lakeward.sql_server.frame.house import House
from lakeward.sql_server.postgres.codec.pg_types import oid_of, plain_names
from lakeward.sql_server.postgres.codec.sql_text import SqlText, statements_of
from lakeward.sql_server.postgres.copying import CopyForm, copied_of
from lakeward.sql_server.postgres.cursors import Cursor, Cursors, declared_of, wanted_of
from lakeward.sql_server.postgres.inner_names import with_inner_names
from lakeward.sql_server.postgres.listings import listing_of
from lakeward.sql_server.postgres.parameters import cast_oids, duck_type_of, literal_of
from lakeward.sql_server.postgres.pg_catalog.answers import as_postgres
from lakeward.sql_server.postgres.pg_catalog.catalogs import PgCatalogs
from lakeward.sql_server.postgres.pg_catalog.rewrite import is_about_catalog, rewrite
from lakeward.sql_server.postgres.portal import Portal, Rows
from lakeward.sql_server.postgres.session_words import session_values, with_duck_spellings, with_session_words
from lakeward.sql_server.postgres.startup import Newcomer
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.variables import Variables, setting_of, shown_of
from lakeward.sql_server.work.statement import Statement

_READS = {"SELECT", "WITH", "VALUES", "FROM", "(", "EXPLAIN", "TABLE", "DESCRIBE", "SUMMARIZE", "PIVOT", "UNPIVOT"}
_WRITES = {"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT", "REVOKE", "COMMENT"}
_NOT_HERE = {"PREPARE", "EXECUTE", "LISTEN", "NOTIFY", "CALL", "DO", "CHECKPOINT", "LOAD", "REASSIGN", "SECURITY"}
#: Variables that can change, and that a client wants to be told of.
_TOLD = ("TimeZone", "application_name")
_WRITES |= {"VACUUM", "ANALYZE", "REINDEX", "CLUSTER", "REFRESH", "LOCK", "IMPORT"}


@dataclass(slots=True)
class Plain:
    """Rows that are there already."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self.batches)


class PlanLines:
    """What EXPLAIN says, a line a row, as Postgres has it."""

    schema = pa.schema([("QUERY PLAN", pa.string())])

    def __init__(self, answer: Rows) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._answer:
            texts = batch.column("explain_value").to_pylist()
            lines = [line for text in texts for line in ([text] if text[:1] in "[{" else text.rstrip().split("\n"))]
            yield pa.record_batch([pa.array(lines, pa.string())], self.schema)


@dataclass(slots=True)
class Work:
    """A statement that is understood: rows to send, or a tag alone."""

    tag: str
    portal: Portal | None = None
    #: What can be stopped while its rows are sent.
    asked: Statement | None = None
    #: How rows are written, for COPY.
    copies: CopyForm | None = None
    #: How many rows a FETCH wants, 0 for all; None for what is no FETCH.
    fetches: int | None = None
    changed: dict[str, str] = field(default_factory=dict)
    #: A prepared statement that is to be forgotten; an empty name stands for all, None for none.
    forgets: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """What comes of a statement, None for one without rows; and the types of its parameters."""

    portal: Portal | None
    oids: Sequence[int]


class Statements:
    """Those of one session; `transaction` is `I`, `T` or `E`, as the protocol has it."""

    def __init__(
        self, house: House, newcomer: Newcomer, variables: Variables, catalogs: PgCatalogs, backend: int
    ) -> None:
        self._house = house
        self._newcomer = newcomer
        self.variables = variables
        self.transaction = "I"
        self.running: Statement | None = None
        self._backend = backend
        self._catalogs = catalogs
        self._cursors = Cursors()
        self._who = newcomer.member.name or f"connection {backend}"
        self._tells = {name: variables.get(name) for name in _TOLD}

    def stop(self) -> None:
        """End what is running; from any thread."""
        running = self.running
        if running is not None:
            running.stop("canceling statement due to user request")

    def close(self) -> None:
        """Let go of what is open."""
        self._cursors.close_all(is_over=True)

    def cursor(self, name: str) -> Portal | None:
        """The answer of a cursor, which is a portal as well; None if there is none."""
        return self._cursors.portal(name)

    def begin(self, statement: SqlText, sql: str, formats: list[int]) -> Work:
        """A statement with its values put in. Blocks until its first rows are there."""
        words = statement.words
        self._check_transaction(words[0])
        if words[0] in _READS:
            return self._answer(statements_of(sql)[0], formats)
        obey = _OBEYED.get(words[0])
        if obey is not None:
            return obey(self, statements_of(sql)[0] if statement.parameters else statement, formats)
        if words[0] in _WRITES:
            raise StateError(
                "25006",
                f"cannot execute {words[0]} in a read-only transaction",
                "Rows are written by `lakeward append` and `lakeward upsert`, the Python API, or Spark.",
            )
        if words[0] in _NOT_HERE:
            raise StateError("0A000", f"{words[0]} is not done here: SQL reads tables of the cluster.")
        raise StateError("42601", f'syntax error at or near "{statement.tokens[0].text}"')

    def describe(self, statement: SqlText, oids: Sequence[int]) -> Described:
        """What the rows and parameters of a statement look like, without them; it is not obeyed yet."""
        if is_silent(statement):
            return Described(None, oids)
        if statement.words[0] == "FETCH":
            return Described(self._cursors.find(wanted_of(statement).name).portal, oids)
        nulls = statement.with_values([literal_of(None, oid, 0) for oid in oids])
        if statement.words[0] not in _READS:
            return Described(self.begin(statement, nulls, []).portal, oids)
        self._check_transaction(statement.words[0])
        asked = statements_of(nulls)[0]
        if is_about_catalog(asked):
            return Described(self._about_catalog(asked, []).portal, cast_oids(statement, oids))
        with ExitStack() as held:
            template = statements_of(self._spell(statement))[0]
            shape = self._new_statement(asked, held).describe(template, [duck_type_of(oid) for oid in oids])
        found = [given or oid_of(field.type) for given, field in zip(oids, shape.parameters, strict=True)]
        if statement.words[0] == "EXPLAIN":
            return Described(Portal(Plain(PlanLines.schema, []), ExitStack(), []), found)
        names = plain_names(shape.columns.names, statement.sql)
        return Described(Portal(Plain(shape.columns, []), ExitStack(), [], names), found)

    def _check_transaction(self, word: str) -> None:
        if self.transaction == "E" and word not in {"ROLLBACK", "COMMIT", "END", "ABORT"}:
            raise StateError("25P02", "current transaction is aborted, commands ignored until end of transaction block")

    def _about_catalog(self, statement: SqlText, formats: list[int]) -> Work:
        """A question about what tables there are; small, so it needs no place."""
        plain = statements_of(with_session_words(statement, self._session_values(), self.variables))[0]
        catalog = self._catalogs.of(self._newcomer.member, self._newcomer.user, self._newcomer.database)

        def stop() -> bool:
            catalog.stop()
            return True

        with self._house.desk.alarms.after(self.variables.limit_s or self._house.desk.time_limit_s, stop):
            rows = as_postgres(catalog.ask(rewrite(plain, self.variables.database)))
        names = plain_names(rows.schema.names, statement.sql)
        return Work("SELECT", Portal(Plain(rows.schema, rows.to_batches()), ExitStack(), formats, names))

    def _answer(self, statement: SqlText, formats: list[int]) -> Work:
        if is_about_catalog(statement):
            return self._about_catalog(statement, formats)
        with ExitStack() as held:
            asked = self._new_statement(statement, held)
            answer = held.enter_context(asked.answer())
            if statement.words[0] == "EXPLAIN":
                portal = Portal(PlanLines(answer), held.pop_all(), formats)
                return Work("EXPLAIN", portal, asked)
            portal = Portal(answer, held.pop_all(), formats, plain_names(answer.schema.names, statement.sql))
        return Work("SELECT", portal, asked)

    def _spell(self, statement: SqlText) -> str:
        spelt = with_inner_names(with_duck_spellings(statement))
        return with_session_words(spelt, self._session_values(), self.variables)

    def _new_statement(self, statement: SqlText, held: ExitStack) -> Statement:
        """The question that can be cancelled from here on."""
        asked = Statement(
            self._house.desk,
            self._newcomer.member.conn,
            self._who,
            self._spell(statement),
            self.variables.database,
            self.variables.limit_s,
            self.variables.time_zone,
        )
        self.running = asked
        held.callback(self.rest, asked)
        return asked

    def rest(self, asked: Statement | None) -> None:
        """Nothing of it is under way for now."""
        if self.running is asked:
            self.running = None

    def _session_values(self) -> dict[str, str]:
        return session_values(self._newcomer.user, self._newcomer.database, self.variables, self._backend)

    def _show(self, statement: SqlText, formats: list[int]) -> Work:
        listing = listing_of(statement, self.variables.database)
        if listing is not None:
            work = self._about_catalog(statements_of(listing)[0], formats)
            work.tag = "SHOW"
            return work
        if statement.words[1:2] == ("ALL",):
            found = self.variables.all()
            columns = {"name": list(found), "setting": list(found.values()), "description": [""] * len(found)}
        else:
            name = shown_of(statement)
            columns = {name: [self.variables.get(name)]}
        batch = pa.RecordBatch.from_pydict(columns, pa.schema([(name, pa.string()) for name in columns]))
        return Work("SHOW", Portal(Plain(batch.schema, [batch]), ExitStack(), formats))

    def _set(self, statement: SqlText, _formats: list[int]) -> Work:
        name, value = setting_of(statement)
        if value is None:
            self.variables.reset(name)
        elif statement.words[1:2] == ("LOCAL",):
            self.variables.set_local(name, value)
        else:
            self.variables.set(name, value)
        return self._tell("SET")

    def _reset(self, statement: SqlText, _formats: list[int]) -> Work:
        name = statement.tokens[1].name if len(statement.tokens) > 1 else "all"
        self.variables.reset(None if name == "all" else name)
        return self._tell("RESET")

    def _tell(self, tag: str) -> Work:
        """A change of variables, of some of which clients are told."""
        now = {name: self.variables.get(name) for name in _TOLD}
        changed = {name: value for name, value in now.items() if value != self._tells.get(name)}
        self._tells = now
        return Work(tag, changed=changed)

    def _enter(self, statement: SqlText, _formats: list[int]) -> Work:
        self.transaction = "T"
        self.variables.enter()
        return Work("START TRANSACTION" if statement.words[0] == "START" else "BEGIN")

    def _leave(self, statement: SqlText, _formats: list[int]) -> Work:
        if statement.words[0] == "ROLLBACK" and "TO" in statement.words:
            self.transaction = "T"
            return Work("ROLLBACK")
        tag = "COMMIT" if statement.words[0] in {"COMMIT", "END"} and self.transaction != "E" else "ROLLBACK"
        self.transaction = "I"
        self._cursors.close_all(is_over=False)
        self.variables.leave(keeps=tag == "COMMIT")
        return self._tell(tag)

    def _nothing(self, statement: SqlText, _formats: list[int]) -> Work:
        return Work(statement.words[0])

    def _discard(self, _statement: SqlText, _formats: list[int]) -> Work:
        self._cursors.close_all(is_over=True)
        self.variables.reset(None)
        work = self._tell("DISCARD ALL")
        work.forgets = ""
        return work

    def _deallocate(self, statement: SqlText, _formats: list[int]) -> Work:
        last = statement.tokens[-1]
        return Work("DEALLOCATE", forgets="" if last.upper == "ALL" or len(statement.tokens) == 1 else last.name)

    def _copy(self, statement: SqlText, _formats: list[int]) -> Work:
        """`COPY (SELECT …) TO STDOUT` or `COPY table TO STDOUT`."""
        sql, form = copied_of(statement)
        work = self._answer(statements_of(sql)[0], [int(form.kind == "binary")])
        work.tag, work.copies = "COPY", form
        return work

    def _declare(self, statement: SqlText, _formats: list[int]) -> Work:
        declared = declared_of(statement)
        self._cursors.check(declared, self.transaction)
        asked = statements_of(declared.sql)[0]
        if asked.words[0] not in _READS:
            raise StateError("42601", "A cursor is declared for a SELECT.")
        work = self._answer(asked, [int(declared.is_binary)])
        assert work.portal is not None
        self._cursors.add(declared.name, Cursor(work.portal, work.asked, declared.is_held))
        self.rest(work.asked)
        return Work("DECLARE CURSOR")

    def _fetch(self, statement: SqlText, formats: list[int]) -> Work:
        wanted = wanted_of(statement)
        cursor = self._cursors.find(wanted.name)
        if statement.words[0] == "MOVE":
            self.running = cursor.asked
            moved = cursor.portal.skip(wanted.rows)
            self.rest(cursor.asked)
            return Work(f"MOVE {moved}")
        if formats:
            cursor.portal.use_formats(formats)
        return Work("FETCH", cursor.portal, cursor.asked, fetches=wanted.rows)

    def _close(self, statement: SqlText, _formats: list[int]) -> Work:
        if statement.words[1:2] == ("ALL",):
            self._cursors.close_all(is_over=True)
            return Work("CLOSE CURSOR ALL")
        self._cursors.close(statement.tokens[1].name if len(statement.tokens) > 1 else "")
        return Work("CLOSE CURSOR")


_OBEYED: dict[str, Callable[[Statements, SqlText, list[int]], Work]] = {
    "SHOW": Statements._show,
    "SET": Statements._set,
    "RESET": Statements._reset,
    "BEGIN": Statements._enter,
    "START": Statements._enter,
    "COMMIT": Statements._leave,
    "END": Statements._leave,
    "ROLLBACK": Statements._leave,
    "ABORT": Statements._leave,
    "SAVEPOINT": Statements._nothing,
    "RELEASE": Statements._nothing,
    "DISCARD": Statements._discard,
    "DEALLOCATE": Statements._deallocate,
    "UNLISTEN": Statements._nothing,
    "COPY": Statements._copy,
    "DECLARE": Statements._declare,
    "FETCH": Statements._fetch,
    "MOVE": Statements._fetch,
    "CLOSE": Statements._close,
}


def waits_for_place(statement: SqlText) -> bool:
    """Whether it asks a question of tables, of which so many are answered at once."""
    return statement.words[0] in _READS | {"COPY", "DECLARE"} and not is_about_catalog(statement)


def is_silent(statement: SqlText) -> bool:
    """Whether it has no rows to describe, and is not done before it is executed."""
    return statement.words[0] in _OBEYED.keys() - {"SHOW", "FETCH"}
