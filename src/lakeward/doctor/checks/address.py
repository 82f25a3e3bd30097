"""Who listens where clients are sent, and whether they can get there."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.port import Listener
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning


def _port(facts: Facts) -> Iterator[Verdict]:
    port = facts.port
    assert port is not None
    match port.listener:
        case Listener.LAKEWARD | Listener.FLUSS:
            return
        case Listener.TLS if facts.servers is not None:
            return  # and we came in by TLS
        case Listener.NOBODY:
            yield error(
                port.address,
                f"Nothing listens at {port.address}.",
                "Start a server with `lakeward serve`, or name another one with --server.",
            )
        case Listener.UNKNOWN_HOST:
            yield error(
                port.address,
                f"The name in {port.address} is not known here: {port.detail}.",
                f"Check the name with `getent hosts {port.address.rpartition(':')[0]}`, or give an IP address.",
            )
        case Listener.OUT_OF_REACH:
            yield error(
                port.address,
                f"{port.address} cannot be reached: {port.detail}.",
                "Look whether the machine is up and whether a firewall or a network policy lets this port through.",
            )
        case Listener.TLS:
            yield error(
                port.address,
                f"{port.address} speaks TLS only, and it was asked without.",
                "Name the authority's certificates: `export LAKEWARD_CA_FILE=/path/ca.pem`, then ask again.",
            )
        case _:
            heard = f" It said: {port.detail!r}." if port.detail else ""
            yield error(
                port.address,
                f"{port.address} is {port.listener.value}, not Lakeward or Apache Fluss.{heard}",
                f"See whose it is with `ss -ltnp sport = :{port.address.rpartition(':')[2]}`, and start the server on"
                " another port: `lakeward serve --port 9124`.",
            )


def _unreachable_servers(facts: Facts) -> Iterator[Verdict]:
    for server in facts.servers or ():
        if server.trouble is not None:
            yield error(
                server.address,
                f"The cluster sends clients to {server.address} ({server.role} {server.id}), which cannot be reached"
                f" from here: {server.trouble}.",
                "Set 'advertised.listeners' to an address that clients reach, such as CLIENT://db.example.org:9123,"
                " and start the server again.",
            )
    if facts.servers is not None and not facts.servers:
        yield warning("", "The cluster names no servers.", "See `lakeward cluster describe`, and the server's log.")


def _tablet_servers(facts: Facts) -> Iterator[Verdict]:
    told = (facts.health or {}).get("tablet_servers")
    if told is None:
        return
    away, returns = told["away"], told["returns"]
    if away:
        yield error(
            "",
            f"{len(away)} of {told['size']} tablet servers {'is' if len(away) == 1 else 'are'} away:"
            f" {', '.join(map(str, away))}. Their buckets wait until they are back.",
            "They are started again by themselves; if one does not stay, the log of `lakeward serve` says why it ends.",
        )
    elif returns:
        yield note(
            "",
            f"Tablet servers ended by themselves {returns} time{'' if returns == 1 else 's'} and were started again.",
            "The log of `lakeward serve` says why; out of memory, the system's log does (`dmesg | grep -i kill`).",
        )


ADDRESS_CHECKS = (
    Check("port", "Who listens at the address of the server.", _port, needs=("port",)),
    Check(
        "advertised-address",
        "Whether the addresses that the cluster tells its clients can be reached from here.",
        _unreachable_servers,
        needs=("servers",),
    ),
    Check(
        "tablet-servers",
        "Whether all tablet servers of `lakeward serve --tablets` are there.",
        _tablet_servers,
        needs=("health",),
    ),
)
