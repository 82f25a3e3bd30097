"""Ledger: the files of a sink. Manifests, what is done, parts; and what of it may be deleted.

    manifest-<batch id>.<revision>   created once; kept until the next manifest is there
    done-<batch id>                  everything of the batch is appended; the newest are kept
    parts/<batch id>/<id>            batches of one task; of no use when the batch is done
    parts/any/<id>                   the same, written without knowing the batch id

A manifest survives a crash of the machine before anything is appended. What says that a batch is done need not: without
it the log is asked. So each commit waits for the disk once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.client.staged.parts.directory import Directory
from lakeward.client.staged.parts.manifest import Manifest, WriterChain
from lakeward.client.staged.parts.open_directory import directory_at
from lakeward.runtime.clock import Clock

_MANIFEST, _DONE, _PARTS, _ANY = "manifest-", "done-", "parts", "any"
_DONE_KEPT = 2
#: Parts of unknown batches are given up when they are this old.
_LEFTOVER_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class DoneBatch:
    """What is known of a batch that is appended; `chain` is what the next one goes on from."""

    batch_id: int
    rows: int
    size_bytes: int
    chain: WriterChain | None

    @classmethod
    def of(cls, manifest: Manifest, now_ms: int) -> DoneBatch:
        """The end of a manifest."""
        chain = manifest.chain_after
        if chain is not None:
            chain = WriterChain(chain.writer_id, chain.sequences, now_ms)
        return cls(manifest.batch_id, manifest.rows, manifest.size_bytes, chain)

    def to_bytes(self) -> bytes:
        """As it stands in its file."""
        chain = None if self.chain is None else self.chain.to_json()
        told = {"batch_id": self.batch_id, "rows": self.rows, "size_bytes": self.size_bytes, "chain": chain}
        return json.dumps(told, separators=(",", ":")).encode()

    @classmethod
    def of_bytes(cls, data: bytes) -> DoneBatch:
        """As it stood in its file."""
        told: Mapping[str, Any] = json.loads(data)
        chain = None if told["chain"] is None else WriterChain.of_json(told["chain"])
        return cls(told["batch_id"], told["rows"], told["size_bytes"], chain)


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a ledger: the newest batch that is done, and each batch's newest manifest."""

    done_id: int
    manifests: Mapping[int, int]

    @property
    def pending(self) -> list[int]:
        """Batches that were begun and are not known to be done."""
        return sorted(id_ for id_ in self.manifests if id_ > self.done_id)


class Ledger:
    """The files of one sink and table."""

    def __init__(self, directory: Directory, name: str, clock: Clock) -> None:
        self._directory = directory
        self._name = name
        self._clock = clock

    def contents(self) -> Contents:
        """What there is now."""
        done_id = -1
        manifests: dict[int, int] = {}
        for file in self._directory.files(self._name):
            if file.name.startswith(_DONE):
                done_id = max(done_id, int(file.name[len(_DONE) :]))
            elif file.name.startswith(_MANIFEST):
                batch_id, revision = map(int, file.name[len(_MANIFEST) :].split("."))
                manifests[batch_id] = max(revision, manifests.get(batch_id, 0))
        return Contents(done_id, manifests)

    def find_done(self, batch_id: int) -> DoneBatch | None:
        """What is known of a batch that is done; None when the ledger has forgotten it."""
        data = self._directory.read(f"{self._name}/{_DONE}{batch_id:019d}")
        return None if data is None else DoneBatch.of_bytes(data)

    def manifest(self, batch_id: int, revision: int) -> Manifest | None:
        """A manifest; None when it is not there any more, because a later batch has one."""
        name = self._manifest_name(batch_id, revision)
        data = self._directory.read(name)
        return None if data is None else Manifest.of_bytes(data, f"{self._directory.uri}/{name}")

    def create(self, manifest: Manifest) -> bool:
        """Write a manifest; False when there is one already."""
        name = self._manifest_name(manifest.batch_id, manifest.revision)
        return self._directory.create_once(name, manifest.to_pieces())

    def withdraw(self, manifest: Manifest) -> None:
        """Delete a manifest of which nothing was appended."""
        self._directory.delete(self._manifest_name(manifest.batch_id, manifest.revision))

    def mark_done(self, done: DoneBatch) -> None:
        """Everything of a batch is appended."""
        self._directory.replace(f"{self._name}/{_DONE}{done.batch_id:019d}", done.to_bytes())

    def _manifest_name(self, batch_id: int, revision: int) -> str:
        return f"{self._name}/{_MANIFEST}{batch_id:019d}.{revision}"

    # -- what may go --------------------------------------------------------------------------------------------------

    def pending_files(self) -> set[str]:
        """Files of parts that a batch needs which is not known to be done."""
        contents = self.contents()
        found = [self.manifest(id_, contents.manifests[id_]) for id_ in contents.pending]
        return {file for manifest in found if manifest is not None for file in manifest.files}

    def drop_files(self, files: Iterable[str], but: Iterable[str] = ()) -> None:
        """Delete files of parts."""
        kept = set(but)
        for file in files:
            if file not in kept:
                place, _, name = file.rpartition("/")
                directory_at(place).delete(name)

    def clean(self, done_id: int) -> None:
        """Delete what nobody needs when this batch, and so every one before it, is done.

        The last two that are done stay: who lists the files while one is added and the other deleted sees one of them.
        """
        files = self._directory.files(self._name)
        for name in sorted(f.name for f in files if f.name.startswith(_DONE))[:-_DONE_KEPT]:
            self._directory.delete(f"{self._name}/{name}")
        for file in files:
            if file.name.startswith(_MANIFEST):
                batch_id, revision = map(int, file.name[len(_MANIFEST) :].split("."))
                if batch_id < done_id:
                    outdated = self.manifest(batch_id, revision)
                    self.drop_files(() if outdated is None else outdated.files)
                    self._directory.delete(f"{self._name}/{file.name}")
        self._clean_parts(done_id)

    def _clean_parts(self, done_id: int) -> None:
        parts = f"{self._name}/{_PARTS}"
        for owner in self._directory.subdirectories(parts):
            if owner.isdecimal() and int(owner) <= done_id:
                self._directory.delete_tree(f"{parts}/{owner}")
            elif owner == _ANY:
                before_ms = self._clock.now_ms() - _LEFTOVER_MS
                for file in self._directory.files(f"{parts}/{owner}"):
                    if file.modified_ms < before_ms:
                        self._directory.delete(f"{parts}/{owner}/{file.name}")
