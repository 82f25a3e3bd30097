"""What a tiering service is told, and where it keeps the little that it must not forget."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlparse

_FOLDER = ".lakeward-tiering"
_CACHE = Path("lakeward") / "tiering"


@dataclass(frozen=True, slots=True)
class TieringSettings:
    """`lake` are properties of the lake catalog; `client`, `client.*` options; `spark`, `spark.*` settings."""

    bootstrap: str
    lake: Mapping[str, str] = field(repr=False)
    master: str = "local[*]"
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    spark: Mapping[str, str] = field(default_factory=dict, repr=False)
    state_dir: Path | None = None

    def state_directory(self) -> Path:
        """Where rounds under way are noted: in a local warehouse, else in the user's cache."""
        if self.state_dir is not None:
            return self.state_dir
        warehouse = urlparse(self.lake.get("warehouse", ""))
        if warehouse.path and warehouse.scheme in {"", "file"}:
            return Path(warehouse.path).absolute() / _FOLDER
        cache = os.environ.get("XDG_CACHE_HOME")
        return (Path(cache) if cache else Path.home() / ".cache") / _CACHE
