"""RestSettings: which cluster the catalog serves, where it listens, and what it allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lakeward.rest.now.now_table import NowSettings

PORT_DEFAULT = 9181
BIND_DEFAULT = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class RestSettings:
    """What `lakeward catalog serve` is told."""

    bootstrap: str
    #: Options of the client; they may say where a password is, so they are never shown.
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Properties of the lake's catalog, where tables do not say them.
    lake: Mapping[str, str] = field(default_factory=dict, repr=False)
    bind: str = BIND_DEFAULT
    port: int = PORT_DEFAULT
    #: More names under which readers reach it.
    names: tuple[str, ...] = ()
    certificate_file: str | None = None
    key_file: str | None = None
    #: Whether tables of the lake that the cluster does not know are served, and may be changed.
    others: Literal["none", "read", "write"] = "none"
    #: Who may see them, where the cluster asks for a login.
    others_for: frozenset[str] = frozenset()
    now: NowSettings = field(default_factory=NowSettings)

    @property
    def encrypts(self) -> bool:
        """Whether readers talk to it by TLS."""
        return self.certificate_file is not None
