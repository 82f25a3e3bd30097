"""`lakeward …` as a shell of a test finds it: forked by the nursery whose door is open to it, and ends as that ends.

Run by a bare interpreter from a file called `lakeward`, which `forked.run_in_shell` writes. From a file called `python`
it is what Spark takes for its Python: modules are forked by the nursery whose door has a name, all else is for the
interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

DOOR = "LAKEWARD_TEST_DOOR"
NAMED_DOOR = "LAKEWARD_TEST_SPARK_DOOR"
_NUMBER_BYTES = 4
_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Have the command started, hand on signals, wait."""
    if Path(sys.argv[0]).name == "lakeward":
        program, arguments = "lakeward", sys.argv[1:]
        door = socket.socket(fileno=int(os.environ[DOOR]))
    elif sys.argv[1:2] == ["-m"]:
        program, arguments = sys.argv[2], sys.argv[3:]
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            door.connect(os.environ[NAMED_DOOR])
        except (KeyError, OSError):  # nobody has opened it
            os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    else:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)  # until it is known whom they are for
    line, theirs = socket.socketpair()
    asked = {
        "program": program,
        "arguments": arguments,
        "directory": str(Path.cwd()),
        "environment": dict(os.environ),
        "is_session": False,
    }
    socket.send_fds(door, [json.dumps(asked).encode()], [0, 1, 2, theirs.fileno()])
    theirs.close()
    pid = _number(line)
    for number in _HANDED_ON:
        signal.signal(number, lambda told, _: os.kill(pid, told))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
    code = os.waitstatus_to_exitcode(_number(line))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def _number(line: socket.socket) -> int:
    told = line.recv(_NUMBER_BYTES)
    if len(told) < _NUMBER_BYTES:
        sys.exit("the nursery has gone")
    return int.from_bytes(told, "little")


if __name__ == "__main__":
    main()
