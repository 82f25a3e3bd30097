"""The bridge: calls in, answers out, over a socket; nothing of Spark is needed."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from lakeward.errors import ErrorCode
from lakeward.spark.bridge import __main__ as bridge
from lakeward.spark.bridge.calls import CALLS, function_of
from lakeward.spark.socket.call import Call
from lakeward.spark.socket.frames import ARROW, BYTES, CANCEL, COUNT, END, ERROR, JSON, Closed, Frames


@pytest.fixture
def jvm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Frames]:
    """The other end of a bridge that serves a few calls of this test's."""
    calls = {"echo": _echo, "refuse": _refuse, "break": _break, "rows": _rows, "bytes": _bytes, "sum": _sum}
    monkeypatch.setattr(bridge, "function_of", calls.__getitem__)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    served = Thread(target=bridge.serve, args=(theirs,))
    served.start()
    with ours:
        yield Frames(ours)
    served.join()
    theirs.close()


def _echo(call: Call) -> Any:
    return {"arguments": dict(call.arguments), "options": call.options}


def _refuse(call: Call) -> Any:
    raise ErrorCode.TABLE_NOT_EXIST.error(f"Table '{call['table']}' does not exist.")


def _break(call: Call) -> Any:
    raise KeyError(call["table"])


def _rows(call: Call) -> None:
    while not call.frames.is_cancelled():
        call.frames.send_count(7)


def _bytes(call: Call) -> bytes:
    return b"".join(call.parts())


def _sum(call: Call) -> int:
    return sum(len(message) for message in call.rows_in())


def ask(jvm: Frames, name: str, **arguments: Any) -> tuple[bytes, Any]:
    """Make a call; the kind and value of its answer."""
    jvm.send_json(JSON, {"call": name, "options": {}, "arguments": arguments})
    kind, payload = jvm.receive()
    return kind, json.loads(payload.to_pybytes())


def test_a_call_is_answered(jvm: Frames) -> None:
    """Arguments arrive, options are put under their own names, the answer comes back."""
    jvm.send_json(JSON, {"call": "echo", "options": {"MAXROWSPERTRIGGER": "5"}, "arguments": {"a": [1, None]}})
    kind, payload = jvm.receive()
    assert kind == JSON
    assert json.loads(payload.to_pybytes()) == {"arguments": {"a": [1, None]}, "options": {"maxRowsPerTrigger": "5"}}


def test_a_refusal_keeps_its_code_and_sentence(jvm: Frames) -> None:
    """An error that explains itself crosses as code and message, and the bridge goes on."""
    assert ask(jvm, "refuse", table="x") == (ERROR, {"code": "TABLE_NOT_EXIST", "message": "Table 'x' does not exist."})
    assert ask(jvm, "echo")[0] == JSON


def test_a_mistake_of_ours_is_answered_too(jvm: Frames, capfd: pytest.CaptureFixture[str]) -> None:
    """The JVM never waits in vain; the trace goes to the log."""
    assert ask(jvm, "break", table="x") == (ERROR, {"code": "UNEXPECTED", "message": "KeyError: 'x'"})
    assert "Traceback" in capfd.readouterr().err


def test_an_unknown_option_is_refused(jvm: Frames) -> None:
    """Options are checked with every call."""
    jvm.send_json(JSON, {"call": "echo", "options": {"scan.foo": "1"}, "arguments": {}})
    kind, payload = jvm.receive()
    assert kind == ERROR
    assert b"did you mean" in payload.to_pybytes()


def test_a_reader_that_has_enough_says_so(jvm: Frames) -> None:
    """A cancelled answer ends, and what was on its way is read away."""
    jvm.send_json(JSON, {"call": "rows", "options": {}, "arguments": {}})
    assert jvm.receive()[0] == COUNT
    jvm.send(CANCEL)
    while (kind := jvm.receive()[0]) == COUNT:
        pass
    assert kind == JSON
    assert ask(jvm, "echo")[0] == JSON


def test_frames_that_nobody_waits_for_are_dropped(jvm: Frames) -> None:
    """Rows and cancels that come after a call has failed do not disturb the next one."""
    jvm.send(ARROW, b"rows of a write that was refused")
    jvm.send(END)
    jvm.send(CANCEL)
    assert ask(jvm, "echo")[0] == JSON


def test_parts_travel_as_bytes(jvm: Frames) -> None:
    """Byte strings follow the call they belong to; an answer may be bytes as well."""
    jvm.send_json(JSON, {"call": "bytes", "options": {}, "arguments": {}, "parts": 2})
    jvm.send(BYTES, b"ab")
    jvm.send(BYTES, b"")
    kind, payload = jvm.receive()
    assert (kind, payload.to_pybytes()) == (BYTES, b"ab")


def test_large_frames_arrive_whole(jvm: Frames) -> None:
    """Messages larger than any socket buffer, up to the end that the writer sends."""
    jvm.send_json(JSON, {"call": "sum", "options": {}, "arguments": {}})
    for _ in range(3):
        jvm.send(ARROW, pa.py_buffer(bytes(5_000_000)))
    jvm.send(END)
    assert json.loads(jvm.receive()[1].to_pybytes()) == 15_000_000


@pytest.mark.parametrize("name", CALLS)
def test_every_call_has_its_function(name: str) -> None:
    """The table of calls names functions that exist."""
    assert callable(function_of(name))


def test_a_closed_socket_is_the_end() -> None:
    """Whoever reads on learns that the other side has gone."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    theirs.close()
    with ours, pytest.raises(Closed):
        Frames(ours).receive()
