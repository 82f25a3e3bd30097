"""HeldRounds: which rounds a service holds, in a small file, so that its next life gives them back at once.

Without it the coordinator would wait two minutes for a service that was killed. Each service has a file of its own and
locks it; a file that is not locked is that of a service that died.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from lakeward.client.admin.lake import TieringRound
from lakeward.model.table import TablePath
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.whole_file import replace_file
from lakeward.runtime.process.process_lock import try_lock

logger = logging.getLogger(__name__)

_HELD = ".held.json"
_LOCK = ".lock"


class HeldRounds:
    """The rounds of one service, of one cluster."""

    def __init__(self, directory: Path, bootstrap: str, entropy: Entropy) -> None:
        self._directory = directory
        #: Another cluster's rounds are never reported to this one.
        self._cluster = hashlib.sha256(bootstrap.encode()).hexdigest()[:16]
        self._own = directory / f"{self._cluster}-{entropy.uuid()}"
        self._lock: int | None = None

    def left_behind(self) -> list[TieringRound]:
        """Rounds of services that died; the files go with the answer."""
        found: list[TieringRound] = []
        for lock_path in sorted(self._directory.glob(f"{self._cluster}-*{_LOCK}")):
            lock = try_lock(lock_path)
            if lock is None:
                continue
            held_path = lock_path.with_name(lock_path.name.removesuffix(_LOCK) + _HELD)
            found.extend(_read(held_path))
            held_path.unlink(missing_ok=True)
            lock_path.unlink(missing_ok=True)
            os.close(lock)
        return found

    def remember(self, rounds: Collection[TieringRound]) -> None:
        """These are held now, and no others."""
        if self._lock is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._lock = try_lock(self._path(_LOCK))
        text = json.dumps([_to_node(one) for one in rounds])
        # Not synced: a machine that dies takes longer than the minute for which a round is held.
        replace_file(LocalFiles(), self._path(_HELD), text.encode(), durable=False)

    def close(self) -> None:
        """Nothing is held any more."""
        if self._lock is None:
            return
        self._path(_HELD).unlink(missing_ok=True)
        self._path(_LOCK).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = None

    def _path(self, suffix: str) -> Path:
        return self._own.with_name(self._own.name + suffix)


def _read(path: Path) -> Iterator[TieringRound]:
    try:
        nodes: list[dict[str, Any]] = json.loads(path.read_bytes())
        yield from [_of_node(node) for node in nodes]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError) as wrong:
        logger.warning("%s is damaged and was removed (%s): its tables are given out again after a while.", path, wrong)


def _to_node(one: TieringRound) -> dict[str, Any]:
    return {
        "table_id": one.table_id,
        "path": str(one.path),
        "coordinator_epoch": one.coordinator_epoch,
        "tiering_epoch": one.tiering_epoch,
    }


def _of_node(node: dict[str, Any]) -> TieringRound:
    path = TablePath.parse(node["path"])
    return TieringRound(int(node["table_id"]), path, int(node["coordinator_epoch"]), int(node["tiering_epoch"]))
