"""JobHome: where the jobs of this machine are written down.

$LAKEWARD_STATE, else $XDG_STATE_HOME/lakeward, else ~/.local/state/lakeward
└── jobs
    ├── <name>.lock       held by the process that runs the job, however that ends
    └── <name>
        ├── record.json   JobRecord
        ├── checkpoint    unless it was put elsewhere
        └── stop          somebody wants the job to stop
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import private_directory
from lakeward.runtime.files.whole_file import replace_file
from lakeward.runtime.process.process_lock import awaited_lock, try_lock
from lakeward.spark.scripts.jobs.job_names import folder_name
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState

STATE_VARIABLE = "LAKEWARD_STATE"
_RECORD = "record.json"
_DROPPED = ".dropped"
#: Who only looks whether a job runs holds its lock for a moment.
_PATIENCE_S = 1.0


class JobHome:
    """Records, locks and requests to stop, by the names of jobs."""

    def __init__(self, directory: Path, folder: str = "jobs") -> None:
        """`folder` is the one of what is alike, such as pipelines."""
        self._jobs = directory / folder
        self._files = LocalFiles()

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ, folder: str = "jobs") -> JobHome:
        """The home of the user's jobs."""
        if named := environment.get(STATE_VARIABLE):
            return cls(Path(named).expanduser().absolute(), folder)
        state = environment.get("XDG_STATE_HOME") or "~/.local/state"
        return cls(Path(state).expanduser().absolute() / "lakeward", folder)

    def folder(self, name: str) -> Path:
        """Where everything of a job is."""
        return self._jobs / folder_name(name)

    def log_file(self, pid: int) -> Path:
        """Where what Spark says in a process goes."""
        return self._jobs.with_name("logs") / f"run-{pid}.log"

    @property
    def history_file(self) -> Path:
        """Where the shell remembers what was typed."""
        return self._jobs.with_name("shell-history")

    def records(self) -> list[JobRecord | LakewardError]:
        """All jobs, by name; of a record that cannot be read, what is wrong with it."""
        try:
            folders = sorted(path for path in self._jobs.iterdir() if path.is_dir() and path.suffix != _DROPPED)
        except FileNotFoundError:
            return []
        except OSError as wrong:
            raise self._unwritable(self._jobs, wrong) from wrong
        found: list[JobRecord | LakewardError] = []
        for folder in folders:
            try:
                record = _read(folder / _RECORD)
            except LakewardError as wrong:
                found.append(wrong)
            else:
                found += [] if record is None else [record]
        return found

    def read(self, name: str) -> JobRecord | None:
        """The record of a job, if it has one."""
        return _read(self.folder(name) / _RECORD)

    def write(self, record: JobRecord, *, durable: bool = True) -> None:
        """Write a record in place of the one before; figures need not outlive a power cut."""
        folder = self.folder(record.name)
        try:
            private_directory(folder)
            replace_file(self._files, folder / _RECORD, record.to_json(), durable=durable)
        except OSError as wrong:
            raise self._unwritable(folder, wrong) from wrong

    def lock(self, name: str) -> int | None:
        """A descriptor that makes the job ours until it is closed; None when another process has it."""
        try:
            private_directory(self._jobs)
            return awaited_lock(self._lock_path(name), _PATIENCE_S)
        except OSError as wrong:
            raise self._unwritable(self._jobs, wrong) from wrong

    def is_held(self, name: str) -> bool:
        """Whether a process runs the job just now."""
        try:
            descriptor = try_lock(self._lock_path(name), os.O_RDWR)
        except FileNotFoundError:
            return False
        if descriptor is None:
            return True
        os.close(descriptor)
        return False

    def state_of(self, record: JobRecord) -> JobState:
        """How a job is now: one that says it runs, and has no process, was killed."""
        if record.state is JobState.RUNNING and not self.is_held(record.name):
            return JobState.KILLED
        return record.state

    def ask_to_stop(self, name: str) -> None:
        """Leave word for whoever runs the job."""
        (self.folder(name) / "stop").touch()

    def is_asked_to_stop(self, name: str) -> bool:
        """Whether somebody left word."""
        return (self.folder(name) / "stop").exists()

    def forget_stop(self, name: str) -> None:
        """What was asked of an earlier run does not hold for the next."""
        (self.folder(name) / "stop").unlink(missing_ok=True)

    def drop(self, name: str) -> None:
        """Forget a job, with what of its checkpoint is on this machine. It is not running."""
        try:
            record = self.read(name)
        except LakewardError:
            record = None
        places = [] if record is None else [local_path(record.checkpoint)]
        places.append(self.folder(name))
        for place in places:
            if place is not None and place.exists():
                gone = place.with_name(f"{place.name}{_DROPPED}")
                place.rename(gone)  # at once: half a checkpoint would be worse than none
                shutil.rmtree(gone)

    def _lock_path(self, name: str) -> Path:
        return self._jobs / f"{folder_name(name)}.lock"

    def _unwritable(self, place: Path, wrong: OSError) -> LakewardError:
        why = "the disk is full" if wrong.errno in {errno.ENOSPC, errno.EDQUOT} else wrong.strerror
        return ErrorCode.STORAGE.error(
            f"{place}: what is known of jobs cannot be kept there ({why}). Make room, or name another place "
            f"in {STATE_VARIABLE}."
        )


def local_path(place: str) -> Path | None:
    """A place as a path, if it is on this machine."""
    plain = place.removeprefix("file://") if place.startswith("file:///") else place
    return None if "://" in plain else Path(plain.removeprefix("file:"))


def _read(path: Path) -> JobRecord | None:
    try:
        return JobRecord.of_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else f"it is damaged: {wrong}"
        raise ErrorCode.STORAGE.error(
            f"{path}: the record of a job cannot be read ({why}). Remove the file to go on from the checkpoint with "
            f"the query that it was begun with; `lakeward jobs drop {path.parent.name}` forgets both."
        ) from wrong
