"""PipelineHome: where it is written down how the pipelines of this machine are.

$LAKEWARD_STATE, else $XDG_STATE_HOME/lakeward, else ~/.local/state/lakeward
└── pipelines
    ├── <name>.lock       held by the process that runs it, however that ends
    └── <name>
        ├── status.json   PipelineStatus
        ├── checkpoint    unless it was put elsewhere
        └── stop          somebody wants it to stop
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.pipelines.status import RUNS, PipelineState, PipelineStatus
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import private_directory
from lakeward.runtime.files.whole_file import replace_file
from lakeward.spark.scripts.jobs.job_home import JobHome, local_path

_STATUS = "status.json"
_FOLDER = "pipelines"


class PipelineHome:
    """Statuses, locks and requests to stop, by the names of pipelines."""

    def __init__(self, places: JobHome) -> None:
        self.places = places
        self._files = LocalFiles()

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> PipelineHome:
        """The home of the user's pipelines."""
        return cls(JobHome.of_environment(environment, _FOLDER))

    def statuses(self) -> list[PipelineStatus]:
        """All pipelines, by name; a status that cannot be read is passed over."""
        folder = self.places.folder("x").parent
        if not folder.is_dir():
            return []
        found = [_read(path / _STATUS) for path in sorted(folder.iterdir()) if path.is_dir()]
        return [self._as_it_is(status) for status in found if status is not None]

    def status(self, name: str) -> PipelineStatus | None:
        """How a pipeline is, if it is known."""
        found = _read(self.places.folder(name) / _STATUS)
        return None if found is None else self._as_it_is(found)

    def write(self, status: PipelineStatus, *, durable: bool = False) -> None:
        """Write a status in place of the one before."""
        folder = self.places.folder(status.name)
        try:
            private_directory(folder)
            replace_file(self._files, folder / _STATUS, status.to_json(), durable=durable)
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(
                f"{folder}: how a pipeline is cannot be written there ({wrong.strerror}). Make room, or name another "
                "place in LAKEWARD_STATE."
            ) from wrong

    def checkpoint(self, name: str, elsewhere: str | None) -> str:
        """Where a pipeline writes down how far it is; made if it is on this machine."""
        if elsewhere is None:
            place = str(self.places.folder(name) / "checkpoint")
        else:
            place = f"{elsewhere.rstrip('/')}/{self.places.folder(name).name}"
            if local_path(place) is not None and "://" not in place:
                place = str(Path(place).absolute())
        if (path := local_path(place)) is not None:
            try:
                private_directory(path)
            except OSError as wrong:
                raise ErrorCode.STORAGE.error(
                    f"{path}: a checkpoint cannot be kept there ({wrong.strerror}). Name another place with "
                    "--checkpoints."
                ) from wrong
        return place

    def forget(self, name: str) -> None:
        """Forget a pipeline, with what of its checkpoint is on this machine. It is not running."""
        found = _read(self.places.folder(name) / _STATUS)
        place = None if found is None else local_path(found.checkpoint)
        if place is not None and place.exists():
            shutil.rmtree(place)
        self.places.drop(name)

    def _as_it_is(self, status: PipelineStatus) -> PipelineStatus:
        if status.state in RUNS and not self.places.is_held(status.name):
            return replace(status, state=PipelineState.KILLED)
        return status


def _read(path: Path) -> PipelineStatus | None:
    try:
        return PipelineStatus.of_json(path.read_bytes())
    except (OSError, ValueError):
        return None
