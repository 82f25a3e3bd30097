"""MetadataFiles: where the metadata lies, twice, and the newest state that what is there proves.

<data.dir>/
  metadata.db                      the newest image
  metadata.journal                 every change since, synced before it is acknowledged
  metadata.identity                whose directory this is
  metadata.copies/<generation>.db, .journal    the three newest images once more, each with the changes after it

An image and the changes after it are a state, from wherever each of them comes: one damaged or lost file costs nothing.
What was acknowledged and is in none of them is noticed, because changes are numbered: then nobody may start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file
from lakeward.server.metadata_store.image import DamagedError, Image, is_unsealed_database
from lakeward.server.metadata_store.journal import JournalText, Statements, line_of, node_of

COPIES_KEPT = 3


@dataclass
class ProvenState:
    """The newest state that could be proven; without an image there is none yet."""

    identity: str | None = None
    image: Image | None = None
    changes: list[tuple[int, Statements]] = field(default_factory=list)
    #: The number of the last change that is known to have been made.
    end: int = 0
    #: What is wrong with which file.
    troubles: list[str] = field(default_factory=list)
    #: Where the journal ends that can be written on; None when it has to be begun again.
    journal_size: int | None = None
    #: Whether the image is a database that an older release left, with a log of its own beside it.
    is_unsealed: bool = False

    @property
    def last_change(self) -> int:
        """The number of the last change that is there."""
        return self.changes[-1][0] if self.changes else 0 if self.image is None else self.image.generation

    @property
    def is_complete(self) -> bool:
        """Whether nothing that was acknowledged is missing."""
        return self.last_change >= self.end


class MetadataFiles:
    """The files beside one `metadata.db`."""

    def __init__(self, disk: Files, image: Path) -> None:
        self.disk = disk
        self.image = image
        self.journal = image.with_suffix(".journal")
        self.identity = image.with_suffix(".identity")
        self.copies = image.with_suffix(".copies")

    def copy(self, generation: int, suffix: str) -> Path:
        """An image or a journal, the second time."""
        return self.copies / f"{generation:012d}{suffix}"

    def find(self) -> ProvenState:
        """Read what is there; changes nothing."""
        found = ProvenState()
        journals = self._journals()
        if not journals and not self.disk.exists(self.identity) and not self.disk.exists(self.copies):
            if not self.disk.exists(self.image):
                return found
            if is_unsealed_database(self.disk.read_bytes(self.image)):
                found.is_unsealed = True
                return found
        found.identity = self._own_identity(journals, found.troubles)
        own = self._own_journals(journals, found)
        found.end = max((journal.end for journal in own), default=0)
        known = {n: statements for journal in own for n, statements in journal.changes.items()}
        for image in self._own_images(found):
            found.identity = found.identity or image.identity
            found.end = max(found.end, image.generation)
            changes = _following(known, image.generation)
            reached = changes[-1][0] if changes else image.generation
            if found.image is None or reached > found.last_change:
                found.image, found.changes = image, changes
            if found.is_complete:
                break
        main = journals.get(self.journal)
        if main is not None and not found.troubles and found.image is not None and main.after == found.image.generation:
            found.journal_size = main.size
        return found

    def _journals(self) -> dict[Path, JournalText]:
        paths = [self.journal, *self.disk.glob(self.copies, "*.journal")]
        return {path: JournalText.of(self.disk.read_bytes(path)) for path in paths if self.disk.exists(path)}

    def _own_identity(self, journals: dict[Path, JournalText], troubles: list[str]) -> str | None:
        """Whose directory this is: the identity file says so, and where it is lost, all others with one voice."""
        if self.disk.exists(self.identity):
            node = node_of(self.disk.read_bytes(self.identity).rstrip(b"\n"))
            if node is not None:
                return str(node["identity"])
            troubles.append(f"{self.identity.name}: it cannot be read")
        elif journals:
            troubles.append(f"{self.identity.name}: it is missing")
        named = {journal.identity for journal in journals.values() if journal.identity is not None}
        return named.pop() if len(named) == 1 else None

    def _own_journals(self, journals: dict[Path, JournalText], found: ProvenState) -> list[JournalText]:
        own = []
        if self.journal not in journals and (journals or self.disk.exists(self.identity)):
            found.troubles.append(f"{self.journal.name}: it is missing")
        for path, journal in journals.items():
            name = path.relative_to(self.image.parent)
            if journal.damaged:
                where = ", ".join(str(at) for at in journal.damaged[:3])
                found.troubles.append(f"{name}: damaged at byte {where}")
            elif not journal.size:
                found.troubles.append(f"{name}: it is empty")
            if journal.identity is None or found.identity is None or journal.identity == found.identity:
                own.append(journal)
            else:
                found.troubles.append(f"{name}: it belongs to another server ({journal.identity})")
        found.troubles += self._short_ones(journals)
        return own

    def _short_ones(self, journals: dict[Path, JournalText]) -> Iterator[str]:
        """The journal and its copy say the same; one that ends before the other was cut."""
        main = journals.get(self.journal)
        if main is None or main.after is None:
            return
        path = self.copy(main.after, ".journal")
        copy = journals.get(path)
        if copy is None:
            yield f"{path.relative_to(self.image.parent)}: it is missing"
        elif main.end != copy.end:
            short = self.journal if main.end < copy.end else path
            ends = sorted((main.end, copy.end))
            yield f"{short.relative_to(self.image.parent)}: it ends with change {ends[0]:,}, its copy with {ends[1]:,}"

    def _own_images(self, found: ProvenState) -> Iterator[Image]:
        """Good images of this server: the one in place, then the copies, newest first."""
        for path in [self.image, *reversed(self.disk.glob(self.copies, "*.db"))]:
            name = path.relative_to(self.image.parent)
            try:
                image = Image.of(self.disk.read_bytes(path))
            except FileNotFoundError:
                found.troubles.append(f"{name}: it is missing")
            except DamagedError as wrong:
                found.troubles.append(f"{name}: {wrong}")
            except OSError as wrong:
                found.troubles.append(f"{name}: {wrong.strerror}")
            else:
                if found.identity is None or image.identity == found.identity:
                    yield image
                else:
                    whose = f"{image.identity}; this directory is of {found.identity}"
                    found.troubles.append(f"{name}: it belongs to another server ({whose})")

    def write_identity(self, identity: str) -> None:
        """Say whose directory this is."""
        replace_file(self.disk, self.identity, line_of({"identity": identity}))

    def prune_copies(self, kept: int = COPIES_KEPT) -> None:
        """Keep the newest copies."""
        images = self.disk.glob(self.copies, "*.db")[-kept:]
        oldest = images[0].stem if images else ""
        for path in self.disk.entries(self.copies):
            if path.stem < oldest:
                self.disk.unlink(path)

    def refusal(self, what: str, found: ProvenState) -> LakewardError:
        """Why nobody may start here, and how to get the metadata back."""
        directory = self.image.parent
        other = (
            f"`lakeward restore --from <its remote.data.dir> --data-dir <an empty directory>` brings the server back "
            f"from remote storage, if it copied there; a backup of your own is put back as {self.image.name} alone, "
            f"without {self.journal.name}, {self.identity.name} and {self.copies.name}"
        )
        ways = [other, f"begin anew, without tables, once all else is moved out of {directory}"]
        if found.image is not None:
            ways.insert(
                0,
                f"`lakeward metadata repair --data-dir {directory}` puts back the newest state that is whole "
                f"(change {found.last_change:,} of {max(found.end, found.last_change):,})",
            )
        troubles = f" Found: {'; '.join(found.troubles)}." if found.troubles else ""
        return ErrorCode.STORAGE.error(
            f"The metadata of {directory} ({self.image}) is not whole: {what}.{troubles} The server does not start, so "
            f"that nothing is overwritten. To restore it: {', or '.join(ways)}."
        )


def _following(known: dict[int, Statements], generation: int) -> list[tuple[int, Statements]]:
    changes = []
    while (generation := generation + 1) in known:
        changes.append((generation, known[generation]))
    return changes
