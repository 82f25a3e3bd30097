"""Ground: what a server stands on: its data directory, its metadata, its clock, its threads."""

from __future__ import annotations

from lakeward.options.server_options import ServerOptions
from lakeward.runtime.trusted_clock import TrustedClock
from lakeward.server.disk_thread import DiskThread
from lakeward.server.doors import Doors
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.port import MetadataStore
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.disk.open_files import OpenFiles

#: Files of logs that are open at a time.
OPEN_FILES_MAX = 512
_STATE_THREADS = 2


class Ground:
    """Opened before, and closed after, everything else."""

    def __init__(
        self, options: ServerOptions, doors: Doors, *, is_lodger: bool = False, has_metadata: bool = True
    ) -> None:
        """A lodger works in a directory that another process of the same server holds; whose metadata is kept by a
        coordinator elsewhere has none of its own."""
        self.clock = TrustedClock(doors.clock)
        self.entropy = doors.entropy
        self._is_lodger = is_lodger
        self.directory = DataDirectory(doors.files, options.data_dir(), is_held=is_lodger)
        self.clock.begin(self.directory.seen_ms)
        self.note_time()
        self._sqlite = (
            SqliteMetadataStore(doors.files, doors.entropy, self.directory.metadata_file) if has_metadata else None
        )
        self.metadata: MetadataStore = self._sqlite or MemoryMetadataStore()
        self.files = OpenFiles(doors.files, OPEN_FILES_MAX)
        self.disk = DiskThread(doors.threads(1, "disk"))
        self.state_threads = doors.threads(_STATE_THREADS, "state")
        self.scrub_thread = doors.threads(1, "scrub")
        self.login_thread = doors.threads(1, "login")

    @property
    def own_metadata(self) -> SqliteMetadataStore:
        """The metadata in the data directory, where it is kept there."""
        assert self._sqlite is not None
        return self._sqlite

    def note_time(self) -> None:
        """Leave in the directory what time it is."""
        if self._is_lodger:
            return
        # The settled time: a start in the middle of a doubt must not take the doubtful time for certain.
        self.directory.note_time(self.clock.settled_ms())

    def close(self) -> None:
        """Let another server have the directory; nobody works on it any more."""
        self.files.close()
        if self._sqlite is not None:
            self._sqlite.close()
        self.directory.close()
