"""The nursery: a process that has imported what programs of ours import, and forks one whenever it is asked.

Most of the time of a short-lived `lakeward …` goes into imports; a fork has done them. It is started by `forked`, with
a socket as its standard input. A request is JSON with four descriptors: standard input, output, errors, and a socket
on which the nursery tells the program's number, and later how it ended. Threads do not survive a fork: what starts some
when it is imported, as DuckDB does, is left to the forks.

Who cannot be handed a socket, since Java stands between, comes in by one with a name. What is started for those ends
with them, as if it were they.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from importlib import import_module
from typing import Any

import click

_REQUEST_BYTES_MAX = 1 << 20


_SERVER = ("uvloop", "sqlite3", "encodings.idna", "lakeward.cli.main", "lakeward.cli.commands.server.serve")
_SERVER += ("lakeward.options.server_options", "lakeward.server.node")
_COMMANDS = ("uvloop", "encodings.idna", "pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "pyiceberg.catalog.sql")
_COMMANDS += (
    "lakeward.cli.main",
    "lakeward.client.blocking.sync",
    "lakeward.query.door",
    "lakeward.lake.iceberg.table",
)
#: What Spark's Python processes load before they do anything, most of it out of an archive without bytecode. Not the
#: worker that pushes filters: by its being loaded a data source knows that it is in that one.
_SPARK = ("pyspark.worker", "pyspark.sql.worker.create_data_source", "pyspark.sql.worker.commit_data_source_write")
_SPARK += ("pyspark.sql.worker.lookup_data_sources", "pyspark.sql.worker.plan_data_source_read")
_SPARK += ("pyspark.sql.worker.python_streaming_sink_runner", "pyspark.sql.worker.write_into_data_source")
_SPARK += ("pandas", "pyarrow.parquet")
_SPARK += ("lakeward.spark.bridge.calls", "lakeward.spark.catalog.catalog_calls", "lakeward.spark.read.read_calls")
_SPARK += ("lakeward.spark.read.stream_calls", "lakeward.spark.source.data_source", "lakeward.spark.source.readers")
_SPARK += ("lakeward.spark.source.stream_readers", "lakeward.spark.source.writers", "lakeward.spark.write.write_calls")
_SPARK += ("lakeward.cli.main", "lakeward.cli.commands.scripts.run_script")  # `lakeward run`, which is Spark's driver
_KINDS = {"server": _SERVER, "commands": _COMMANDS, "spark": _SPARK}


def _import_all(kind: str) -> None:
    for name in _KINDS[kind]:
        import_module(name)
    import_module("lakeward.server.tablet.kv.kv_warm_up").warm_up()
    if kind == "commands":
        tree = import_module("lakeward.cli.main").cli
        for name in tree.list_commands(click.Context(tree)):
            tree.get_command(click.Context(tree), name)


def main() -> None:
    """Fork until nobody can ask any more; returns in the forks only by their end."""
    _import_all(sys.argv[1])
    gc.freeze()  # what is shared stays shared
    asked = _wait_for_request()
    if asked is not None:
        _become(asked)


def _wait_for_request() -> dict[str, Any] | None:
    """In a fork: what it is to be. In the nursery: None, when it is no longer needed."""
    door = socket.socket(fileno=os.dup(0))
    named = [socket.socket(fileno=int(given)) for given in sys.argv[2:]]
    poll = select.poll()
    for asking in (door, *named):
        poll.register(asking, select.POLLIN)
    running: dict[int, tuple[int, socket.socket]] = {}  # by descriptor of the process
    bound: dict[int, int] = {}  # by the line of one who came in by name: the process
    while True:
        descriptor = poll.poll()[0][0]  # one after the other: a number may mean something else afterwards
        if descriptor in running:
            poll.unregister(descriptor)
            pid, line = running.pop(descriptor)
            _say(line, os.waitpid(pid, 0)[1])
            os.close(descriptor)
            if bound.pop(line.fileno(), None):
                poll.unregister(line)
            line.close()
            continue
        if descriptor in bound:
            poll.unregister(descriptor)
            os.kill(bound.pop(descriptor), signal.SIGKILL)
            continue
        message, descriptors = _request(door if descriptor == door.fileno() else named[0].accept()[0])
        if not message:
            if descriptor == door.fileno():
                return None
            continue
        pid = os.fork()
        if not pid:
            for index, given in enumerate(descriptors[:3]):
                os.dup2(given, index)
            for inherited in [*descriptors, *running, *(line.fileno() for _, line in running.values())]:
                os.close(inherited)
            for _, line in running.values():
                line.detach()
            for asking in (door, *named):
                asking.close()
            asked: dict[str, Any] = json.loads(message)
            return asked
        for given in descriptors[:3]:
            os.close(given)
        line = socket.socket(fileno=descriptors[3])
        _say(line, pid)
        process = os.pidfd_open(pid)
        running[process] = (pid, line)
        poll.register(process, select.POLLIN)
        if descriptor != door.fileno():
            bound[line.fileno()] = pid
            poll.register(line, 0)  # tells when the other side has gone, and nothing else


def _request(asking: socket.socket) -> tuple[bytes, list[int]]:
    message, descriptors, _, _ = socket.recv_fds(asking, _REQUEST_BYTES_MAX, 4)
    return message, descriptors


def _say(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # whoever asked may be gone
        line.send(number.to_bytes(4, "little"))


def _become(asked: dict[str, Any]) -> None:
    """Do what a new interpreter with these arguments does."""
    if asked["is_session"]:
        os.setsid()
    os.chdir(asked["directory"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.path[0] = asked["directory"]
    program, sys.argv = asked["program"], ["", *asked["arguments"]]
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        code: Any = 0
    except SystemExit as ended:
        code = ended.code
    _end(code)


def _end(code: Any) -> None:
    """End as an interpreter does, but for taking its heap apart, which would first copy what is shared."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
