"""Forked: `python -m lakeward …` as a process of its own, forked from one that has done the imports (see `nursery`)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import quick_command

from lakeward.runtime.process.child import Child

_NURSERY = Path(__file__).with_name("nursery.py")
_START_S = 120
_MODULE = [sys.executable, "-m"]


class Forked(Child):
    """A `Popen` whose program is forked; what only a new interpreter can do is done by one."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._line: socket.socket | None = None
        super().__init__(command, **options)

    def _execute_child(self, args: Any, *rest: Any) -> None:  # as Popen calls it; `rest` begins with `executable`
        cwd, environment, handles = rest[4], rest[5], rest[9:15]
        arguments = list(args)
        if arguments[:2] != _MODULE or not _is_like_ours(environment) or rest[1] is not None:
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        asked = {
            "program": arguments[2],
            "arguments": arguments[3:],
            "directory": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
            "is_session": rest[20],
        }
        theirs_of = (handles[0], handles[3], handles[5])  # of three pipes
        given = [index if descriptor == -1 else descriptor for index, descriptor in enumerate(theirs_of)]
        self._line, theirs = socket.socketpair()
        with theirs:
            _nursery_of(_kind_for(arguments)).ask(asked, [*given, theirs.fileno()])
        self.pid = self._number(_START_S)
        self._child_created = True
        self._close_pipe_fds(*handles)  # type: ignore[attr-defined]
        assert self.pid, "the nursery has gone"

    def _number(self, timeout_s: float | None) -> int:
        """The next number that the nursery tells; 0 if it tells none in time."""
        assert self._line is not None
        if not wait([self._line], timeout_s):
            return 0
        return int.from_bytes(self._line.recv(4), "little")

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._line is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        if not wait([self._line], 0 if wait_flags else None):
            return 0, 0
        told = self._line.recv(4)
        self._line.close()
        return self.pid, int.from_bytes(told, "little")

    def _internal_poll(self, *given: Any, **more: Any) -> int | None:
        if self._line is None:
            return super()._internal_poll(*given, **more)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                pid, status = (0, 0) if self.returncode is not None else self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def run(command: Sequence[str], *, stdin: str = "", timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; what it printed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Forked(command, text=True, **pipes) as process:
        try:
            output, errors = process.communicate(stdin, timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def run_in_shell(
    program: Sequence[str], *, directory: Path, timeout_s: float, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program that may type `lakeward …`, which the nursery forks, and `python`; to its end."""
    with tempfile.TemporaryDirectory() as place:
        _write_command(Path(place), "lakeward")
        door = _nursery_of("commands").door
        path = f"{place}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return subprocess.run(
            program,
            cwd=directory,
            env={**os.environ, **environment, "PATH": path, quick_command.DOOR: str(door)},
            pass_fds=[door],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )


@contextlib.contextmanager
def pythons_of_spark() -> Iterator[dict[str, str]]:
    """What to have in the environment of a Spark so that its Python processes are forked, each with imports done."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as named:
        named.bind(f"{place}/door")
        named.listen(64)
        _nurseries["spark"] = _Nursery("spark", named)
        try:
            python = str(_write_command(Path(place), "python"))
            yield {"PYSPARK_PYTHON": python, quick_command.NAMED_DOOR: f"{place}/door"}
        finally:
            del _nurseries["spark"]  # which shuts its door


def _write_command(place: Path, name: str) -> Path:
    command = place / name
    command.write_text(f"#!{sys.executable} -IS\n{Path(quick_command.__file__).read_text()}")
    command.chmod(0o755)
    return command


class _Nursery:
    """One nursery of this process, and the door to it."""

    def __init__(self, kind: str, *named: socket.socket) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self.owner = os.getpid()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(_NURSERY), kind, *(str(door.fileno()) for door in named)],
                stdin=theirs,
                pass_fds=[door.fileno() for door in named],
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                # Threads do not survive a fork, and Spark wants its Pythons to agree about hashes.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **({"PYTHONHASHSEED": "0"} if named else {})},
            )
        self._process.returncode = 0  # it ends when the door is closed, with us; nobody waits for it

    @property
    def door(self) -> int:
        """Its descriptor, for programs that ask by themselves."""
        return self._door.fileno()

    def ask(self, asked: dict[str, Any], descriptors: list[int]) -> None:
        """Have a program started."""
        with self._lock:
            socket.send_fds(self._door, [json.dumps(asked).encode()], descriptors)


_nurseries: dict[str, _Nursery] = {}
_making = threading.Lock()


def _nursery_of(kind: str) -> _Nursery:
    with _making:
        found = _nurseries.get(kind)
        if found is None or found.owner != os.getpid():
            found = _nurseries[kind] = _Nursery(kind)
        return found


def _kind_for(arguments: Sequence[str]) -> str:
    if "serve" in arguments:
        return "server"
    return "spark" if arguments[0] == "run" and "spark" in _nurseries else "commands"


def _is_like_ours(environment: dict[str, str] | None) -> bool:
    """Whether an interpreter with this environment would be as the nursery's is."""

    def matter(given: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in given.items() if key.startswith(("PYTHON", "LD_", "NUMBA", "MALLOC"))}

    return environment is None or matter(environment) == matter(dict(os.environ))
