"""Session and Statements: messages in, messages out, without a cluster; what is asked of tables is tested elsewhere."""

from __future__ import annotations

import asyncio
import struct
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakeward.sql_server.postgres.codec.messages import Body
from lakeward.sql_server.postgres.session import Session, Threads
from lakeward.sql_server.postgres.statements import Statements
from lakeward.sql_server.postgres.variables import Variables, options_of
from lakeward.sql_server.postgres.wire import ClientMessage


class _Wire:
    """Hands out messages, and keeps what is sent."""

    is_gone = False

    def __init__(self, messages: list[tuple[str, bytes]]) -> None:
        self._left = [*messages, ("X", b"")]
        self.sent = b""

    async def next(self) -> ClientMessage:
        letter, body = self._left.pop(0)
        return ClientMessage(letter, Body(body))

    async def send(self, data: bytes | memoryview) -> None:
        self.sent += bytes(data)


def told(*messages: tuple[str, bytes]) -> list[tuple[str, bytes]]:
    """What a session says to messages: letters and bodies."""
    wire = _Wire(list(messages))

    async def run() -> None:
        with ThreadPoolExecutor(2) as pool:
            member = SimpleNamespace(name="ann", conn=None)
            newcomer = SimpleNamespace(member=member, user="ann", database="shop")
            statements = Statements(cast(Any, None), cast(Any, newcomer), Variables({}), cast(Any, None), 7)
            await Session(cast(Any, wire), statements, Threads(pool, pool)).run()

    asyncio.run(run())
    found, at = [], 0
    while at < len(wire.sent):
        size = struct.unpack_from("!i", wire.sent, at + 1)[0]
        found.append((wire.sent[at : at + 1].decode(), wire.sent[at + 5 : at + 1 + size]))
        at += 1 + size
    return found


def letters(answers: list[tuple[str, bytes]]) -> str:
    """Their kinds, with the state of the transaction behind each Z."""
    return "".join(letter + (body.decode() if letter == "Z" else "") for letter, body in answers)


def query(sql: str) -> tuple[str, bytes]:
    """A simple question."""
    return "Q", sql.encode() + b"\0"


def parse(sql: str, name: str = "") -> tuple[str, bytes]:
    """A statement without types of parameters."""
    return "P", f"{name}\0{sql}\0".encode() + b"\0\0"


def bind(name: str = "", portal: str = "") -> tuple[str, bytes]:
    """No values, and text in the answer."""
    return "B", f"{portal}\0{name}\0".encode() + b"\0\0" * 3


EXECUTE, SYNC = ("E", b"\0\0\0\0\0"), ("S", b"")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SHOW search_path", "TDCZI"),
        ("", "IZI"),
        (";;", "IZI"),
        ("BEGIN", "CZT"),
        ("BEGIN; COMMIT", "CCZI"),
        ("SET application_name = 'x'", "SCZI"),
        ("SET statement_timeout = 'soon'", "EZI"),
        ("SET TIME ZONE 'europe/berlin'; SET TIME ZONE 1; SET TIME ZONE 1; RESET ALL", "SCSCCSCZI"),
        ("SET TIME ZONE 'Europe/Nowhere'", "EZI"),
        ("BEGIN; SET TIME ZONE 1; ROLLBACK", "CSCSCZI"),
        ("SHOW search_path; SHOW nothing; SHOW search_path", "TDCEZI"),
        ("INSERT INTO t VALUES (1)", "EZI"),
        ("BEGIN; DROP TABLE t", "CEZE"),
        ("DISCARD ALL", "CZI"),
        ("FETCH 1 FROM nothing", "EZI"),
    ],
)
def test_a_simple_question_ends_with_what_became_of_the_transaction(sql: str, expected: str) -> None:
    """What follows an error in the same text is not done."""
    assert letters(told(query(sql))) == "ZI" + expected


@pytest.mark.parametrize(("end", "kept"), [("COMMIT", b"7"), ("ROLLBACK", b"5")])
def test_what_is_set_for_a_transaction_ends_with_it(end: str, kept: bytes) -> None:
    """SET LOCAL in any case, SET where it is taken back."""
    told_in = "SET LOCAL lock_timeout = 3; BEGIN; SET lock_timeout = 7; SET LOCAL lock_timeout = 9; SHOW lock_timeout"
    answers = told(query("SET lock_timeout = 5"), query(f"{told_in}; {end}; SHOW lock_timeout"))
    assert [body[6:] for letter, body in answers if letter == "D"] == [b"9", kept]


def test_what_a_client_sets_when_it_comes() -> None:
    """As a program is given it; a zone that there is none of leaves it as it was, and the client is told."""
    found = options_of(r"-c search_path=a\ b,c --statement-timeout=5s -cTimeZone=Nowhere -x")
    assert found == {"search_path": "a b,c", "statement_timeout": "5s", "TimeZone": "Nowhere"}
    variables = Variables(found)
    assert (variables.limit_s, variables.time_zone, variables.database) == (5.0, "UTC", "a b")


def test_in_a_transaction_that_failed_nothing_is_done_until_its_end() -> None:
    """As Postgres has it: only its end is taken, and that is a ROLLBACK."""
    answers = told(query("BEGIN"), query("SHOW nothing"), query("SHOW search_path"), query("COMMIT"))
    assert letters(answers) == "ZICZTEZEEZECZI"
    assert b"25P02" in answers[5][1]
    assert answers[-2] == ("C", b"ROLLBACK\0")


def test_the_extended_protocol_skips_to_the_next_sync_after_an_error() -> None:
    """And is as it was behind it."""
    wrong = told(parse("SHOW nothing"), bind(), EXECUTE, EXECUTE, bind(), SYNC, parse("SHOW search_path"), bind(), SYNC)
    assert letters(wrong) == "ZI12EZI12ZI"


@pytest.mark.parametrize(
    ("message", "state"),
    [
        (bind("nothing"), b"26000"),
        (("E", b"nothing\0\0\0\0\0"), b"34000"),
        (("D", b"Snothing\0"), b"26000"),
        (parse("SHOW a; SHOW b"), b"42601"),
        (("B", b"\0p\0\0\0\0\1\0\0\0\1x\0\0"), b"08P01"),
    ],
)
def test_what_is_not_there_has_its_state(message: tuple[str, bytes], state: bytes) -> None:
    """And the session goes on."""
    answers = told(parse("SHOW search_path", "p"), message, SYNC)
    assert letters(answers) == "ZI1EZI"
    assert state in answers[2][1]


def test_names_of_prepared_statements_are_taken_once_and_let_go_of() -> None:
    """By a message or by SQL; the one without a name is always another."""
    again = told(parse("SHOW a", "p"), parse("SHOW b", "p"), SYNC)
    assert b"42P05" in again[2][1]
    for gone in (("C", b"Sp\0"), query("DEALLOCATE p"), query("DEALLOCATE ALL"), query("DISCARD ALL")):
        assert letters(told(parse("SHOW a", "p"), gone, parse("SHOW b", "p"), SYNC)).endswith("1ZI")
    assert letters(told(parse("SHOW a"), parse("SHOW b"), SYNC)) == "ZI11ZI"


def test_a_portal_lives_until_its_transaction_ends() -> None:
    """Outside of one, until the next Sync."""
    outside = told(parse("SHOW search_path"), bind(portal="a"), SYNC, ("E", b"a\0\0\0\0\0"), SYNC)
    assert letters(outside) == "ZI12ZIEZI"
    inside = told(
        query("BEGIN"), parse("SHOW search_path"), bind(portal="a"), SYNC, ("E", b"a\0\0\0\0\0"), SYNC, query("END")
    )
    assert letters(inside) == "ZICZT12ZTDCZTCZI"
