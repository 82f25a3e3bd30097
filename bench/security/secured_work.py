"""Append and scan by our own client, at listeners that ask, check and encrypt."""

from __future__ import annotations

import contextlib
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lakeward as lw
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target, lakeward
from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.model.acl import Acl, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.runtime.clock import SystemClock

OPEN = "PLAINTEXT"
#: How the client comes in.
WAYS = (OPEN, "SASL", "SASL + grants", "SSL", "SASL_SSL")
GRANTS = 3000
_USERS = "alice:alice-secret,admin:admin-secret"
_GRANTS_A_CALL = 500
_SEED = 18
#: What was dropped is deleted meanwhile.
_SETTLE_S = 0.5
_TABLE = "fluss.bench_secured"


@dataclass(frozen=True)
class Measured:
    """Seconds on the clock, and CPU seconds of client and server together."""

    seconds: float
    cpu_s: float


@dataclass(frozen=True)
class Door:
    """Where a client comes in, and what it shows."""

    target: Target
    bootstrap: str
    options: dict[str, str]


@contextlib.contextmanager
def secured() -> Iterator[dict[str, Door]]:
    """A server with a listener for each protocol, and one that checks grants: where each way leads."""
    with contextlib.ExitStack() as stack:
        certs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lakeward-certs-")))
        yield {**_without_grants(stack, certs), "SASL + grants": _with_grants(stack)}


def serve(way: str, certs: Path, *more: str) -> tuple[Target, Door]:
    """A server with one listener."""
    target = lakeward((*options_of([way], certs), *more))
    return target, door(target, way, target.bootstrap, certs)


def options_of(ways: list[str], certs: Path) -> tuple[str, ...]:
    """What a server with a listener for each protocol is told; the first is named FLUSS, as clients expect it."""
    names = ["FLUSS", *ways[1:]]
    given = {"security.protocol.map": ",".join(f"{name}:{way}" for name, way in zip(names, ways, strict=True))}
    if len(ways) > 1:
        given["bind.listeners"] = ",".join(f"{name}://localhost:0" for name in names)
    if any(way.startswith("SASL") for way in ways):
        given["security.sasl.plain.credentials"] = _USERS
    if any(way.endswith("SSL") for way in ways):
        authority = DevAuthority(certs, SystemClock(), days=2)
        authority.server(("localhost", "127.0.0.1", "::1"))
        given["security.tls.certificate-file"] = str(authority.path("server"))
        given["security.tls.key-file"] = str(authority.path("server", "key"))
    return tuple(part for key, value in given.items() for part in ("-D", f"{key}={value}"))


def door(target: Target, way: str, bootstrap: str, certs: Path) -> Door:
    """How a client comes in by a protocol."""
    options = {"client.security.protocol": way}
    if way.startswith("SASL"):
        options |= {"user": "alice", "password": "alice-secret"}
    if way.endswith("SSL"):
        options["client.security.tls.ca-file"] = str(certs / "ca.pem")
    return Door(target, bootstrap, options)


def _without_grants(stack: contextlib.ExitStack, certs: Path) -> dict[str, Door]:
    ways = [OPEN, "SASL", "SSL", "SASL_SSL"]
    target = lakeward(options_of(ways, certs))
    stack.callback(target.stop)
    names = ["FLUSS", *ways[1:]]
    return {way: door(target, way, target.listeners[name], certs) for name, way in zip(names, ways, strict=True)}


def _with_grants(stack: contextlib.ExitStack) -> Door:
    checks = ("-D", "authorizer.enabled=true", "-D", "super.users=User:admin")
    target, found = serve("SASL", Path(), *checks)
    stack.callback(target.stop)
    with lw.connect(found.bootstrap, user="admin", password="admin-secret") as connection:
        others = [
            Acl(Resource.table("fluss", f"table_{n % 100}"), Principal(f"user_{n}"), Operation.READ)
            for n in range(GRANTS - 2)
        ]
        hers = [Acl(Resource.database("fluss"), Principal("alice"), op) for op in (Operation.ALL, Operation.READ)]
        for first in range(0, GRANTS, _GRANTS_A_CALL):
            connection.acls.grant((others + hers)[first : first + _GRANTS_A_CALL])
    return found


def measure(doors: dict[str, Door], rows: int, rounds: int) -> dict[tuple[str, str], Measured]:
    """The median of each work by each way; the first round warms up."""
    found: dict[tuple[str, str], list[Measured]] = {}
    chance = random.Random(_SEED)
    for number in range(rounds + 1):
        for way in chance.sample(WAYS, len(WAYS)):
            for work, one in _work(doors[way], rows):
                if number:
                    found.setdefault((work, way), []).append(one)
                    print(f"{number} {work}, {way}: {one.seconds:.3f} s, CPU {one.cpu_s:.2f} s", flush=True)
    return {
        key: Measured(statistics.median(x.seconds for x in some), statistics.median(x.cpu_s for x in some))
        for key, some in found.items()
    }


def _work(door: Door, rows: int) -> Iterator[tuple[str, Measured]]:
    some = batches(rows // BATCH_ROWS)
    with lw.connect(door.bootstrap, **door.options) as connection:
        connection.drop_table(_TABLE, missing_ok=True)
        table = connection.create_table(_TABLE, SCHEMA, buckets=2)
        table.append(some[0].slice(0, 1))  # opens the connections
        yield "append", _measured(door.target, lambda: table.append(some))
        for _ in range(2):
            yield "scan", _measured(door.target, lambda: _scan(table, rows + 1))
        connection.drop_table(_TABLE)
    time.sleep(_SETTLE_S)


def _scan(table: lw.Table, rows: int) -> None:
    got = sum(batch.num_rows for batch in table.scan().batches())
    assert got == rows, f"{got} of {rows} rows"


def _measured(target: Target, act: Callable[[], object]) -> Measured:
    gc.collect()
    cpu, own, begun = target.cpu_s(), time.process_time(), time.perf_counter()
    act()
    seconds, own = time.perf_counter() - begun, time.process_time() - own
    return Measured(seconds, own + target.cpu_s() - cpu)
