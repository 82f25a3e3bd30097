"""Programs that end with the process that started them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest
from eventually import eventually

from lakeward.runtime.process.child import Child, running_children

_PARENT = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
from lakeward.runtime.process.child import Child
children = [Child(["sleep", "600"]), Child(["sh", "-c", "sleep 600 & wait"])]
print(*(child.pid for child in children), flush=True)
{end}
"""
_ENDS = {
    "kill -9": "time.sleep(600)",
    "a closed terminal": "time.sleep(600)",
    "its last line": "",
    "an exception": "raise SystemExit(3)",
}
_SIGNALS = {"kill -9": signal.SIGKILL, "a closed terminal": signal.SIGHUP}


def parent(end: str) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A process with children, and those."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PARENT.format(end=end)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        found = []
        for pid in pids:
            with_pid = psutil.Process(pid) if psutil.pid_exists(pid) else None
            found += [with_pid] if with_pid is not None else []
    return process, found


@pytest.mark.parametrize("how", _ENDS)
def test_children_end_with_their_parent(how: str) -> None:
    """Whatever end it has, they have one too."""
    process, children = parent(_ENDS[how])
    if how in _SIGNALS:
        assert len(children) == 2
        process.send_signal(_SIGNALS[how])
    process.wait(30)
    assert eventually(lambda: not any(child.is_running() for child in children))


def test_the_warden_is_replaced_when_it_dies() -> None:
    """Who ends the warden does not end what it is for: the next child brings another, which knows the first too."""
    code = """
import os, signal, time, psutil
from lakeward.runtime.process.child import Child
first = Child(["sleep", "600"])
(warden,) = [p for p in psutil.Process().children() if "warden.py" in " ".join(p.cmdline())]
warden.kill(); warden.wait()
second = Child(["sleep", "600"])
print(first.pid, second.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert eventually(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_a_child_that_does_not_listen_is_killed() -> None:
    """It is asked first, and not for ever."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    child = Child([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        assert child.stop(0.1) == -signal.SIGKILL
    assert child not in running_children()


def test_a_child_that_has_ended_is_forgotten() -> None:
    """Its number may be another program's next."""
    child = Child(["true"])
    assert child.wait() == 0
    assert child not in running_children()


def test_the_terminals_ctrl_c_is_not_for_children() -> None:
    """They are in a session of their own, so that they end in the order that is right."""
    child = Child(["sleep", "600"])
    assert os.getsid(child.pid) == child.pid
    assert child.stop(10) == -signal.SIGTERM


def test_an_interrupt_leaves_no_child_half_started() -> None:
    """A signal while a child begins is heard when it is in our books."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        child = Child(["sleep", "600"], preexec_fn=lambda: os.kill(os.getppid(), signal.SIGINT))
        assert eventually(lambda: heard == [signal.SIGINT])
        assert child in running_children()
        child.stop(10)
    finally:
        signal.signal(signal.SIGINT, before)


_LATE = """
import os, threading, time
from lakeward.runtime.process.child import Child

def half_started():
    os.write(1, str(os.getpid()).encode())
    os.write(half, b"!")
    time.sleep(0.5)

begun, half = os.pipe()
threading.Thread(target=Child, args=(["sleep", "600"],), kwargs={"preexec_fn": half_started}, daemon=True).start()
os.read(begun, 1)
"""


def test_a_child_that_is_half_started_at_the_end_is_stopped() -> None:
    """As Spark's Java, when Ctrl-C comes in that moment: it was in nobody's books, and went on without us."""
    done = subprocess.run(
        [sys.executable, "-c", _LATE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
    )
    child = int(done.stdout)
    assert eventually(lambda: not psutil.pid_exists(child))


def test_nothing_begins_after_the_end() -> None:
    """What a thread was about to start when its program was stopped is not started any more."""
    code = """
from lakeward.runtime.process.child import Child, stop_children
stop_children(0)
try:
    Child(["sleep", "600"])
except ChildProcessError as refused:
    print(refused)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "This program is about to end; it starts no other.\n", done.stderr


def test_a_process_ends_when_the_other_side_hangs_up() -> None:
    """In the middle of its work too."""
    ours, theirs = socket.socketpair()
    code = f"""
import socket, time
from lakeward.runtime.process.child import end_with
end_with(socket.socket(fileno={theirs.fileno()}))
print(flush=True)
time.sleep(600)
"""
    child = Child([sys.executable, "-c", code], pass_fds=(theirs.fileno(),), stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout, ours, theirs:
        child.stdout.readline()
        theirs.close()
        ours.send(b"not the end")
        time.sleep(0.1)
        assert child.poll() is None
        ours.close()
        assert child.wait(30) == 0
