"""Facts: everything that checks are made of. A part that is None could not be learned; `missing` says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeward.doctor.facts.machine import DirectoryFacts, DiskFacts, MachineFacts, ProcessFacts
from lakeward.doctor.facts.port import PortFacts, ReachedServer
from lakeward.doctor.facts.samples import Samples
from lakeward.doctor.facts.tables import GroupFacts, LakeFacts, TableFacts, TieringFacts
from lakeward.model.acl import Acl


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a cluster and of the machine that the doctor runs on."""

    #: What listens at the address that was given.
    port: PortFacts | None = None
    #: The addresses that the cluster tells its clients.
    servers: Sequence[ReachedServer] | None = None
    #: The documents of GET /health and /remote; the second is empty where nothing is copied.
    health: Mapping[str, Any] | None = None
    remote: Mapping[str, Any] | None = None
    #: The numbers of GET /metrics.
    metrics: Samples | None = None
    #: How far the server's clock is ahead of this machine's, give or take the time that the question took.
    clock_ahead_ms: float | None = None
    clock_doubt_ms: float = 0.0
    #: The options the cluster runs with, without secrets.
    options: Mapping[str, str] | None = None
    tables: Sequence[TableFacts] | None = None
    #: Tables that there are; `tables` may hold fewer.
    table_count: int = 0
    #: What the tiering service wrote down, by table.
    tiering: Mapping[str, TieringFacts] | None = None
    #: Whether lakes can be opened from here.
    lakes: Sequence[LakeFacts] | None = None
    groups: Sequence[GroupFacts] | None = None
    acls: Sequence[Acl] | None = None
    #: Whether the password that was used is one that everybody would try.
    has_weak_password: bool | None = None
    machine: MachineFacts | None = None
    process: ProcessFacts | None = None
    disk: DiskFacts | None = None
    directory: DirectoryFacts | None = None
    now_ms: int = 0
    missing: Mapping[str, str] = field(default_factory=dict)

    def has(self, part: str) -> bool:
        """Whether a part could be learned."""
        return getattr(self, part) is not None

    def why_missing(self, part: str) -> str:
        """Why it could not."""
        return self.missing.get(part, "nobody asked for it.")
