"""`lakeward …` as a shell of a test finds it: forked by the nursery whose door is open to it, and ends as that ends.

Run by a bare interpreter from a file called `lakeward`, which `forked.commands_for_shells` writes.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

DOOR = "LAKEWARD_TEST_DOOR"
_NUMBER_BYTES = 4
_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Have the command started, hand on signals, wait."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)  # until it is known whom they are for
    line, theirs = socket.socketpair()
    asked = {
        "program": "lakeward",
        "arguments": sys.argv[1:],
        "directory": str(Path.cwd()),
        "environment": dict(os.environ),
        "is_session": False,
    }
    door = socket.socket(fileno=int(os.environ[DOOR]))
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
