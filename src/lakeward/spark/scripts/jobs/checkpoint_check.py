"""Is a checkpoint whole? Spark's own answer to one that is not is a parser's, or an assertion's."""

from __future__ import annotations

import json
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.spark.scripts.jobs.continuity import shell_word
from lakeward.spark.scripts.jobs.job_home import local_path


def check_checkpoint(job: str, checkpoint: str) -> None:
    """Raise, naming the file and what to do, if a checkpoint on this machine is damaged. An empty one is whole."""
    place = local_path(checkpoint)
    if place is None:
        return
    fault = _fault(place)
    if fault is not None:
        raise ErrorCode.STORAGE.error(
            f"The checkpoint of job '{job}' is damaged: {fault}. Put the file back from a copy; or begin anew: "
            f"`lakeward jobs drop {shell_word(job)}` forgets the checkpoint, and the next run reads from the start."
        )


def check_presence(job: str, checkpoint: str) -> None:
    """Raise if the checkpoint of an earlier run is gone: to begin anew without a word would double rows."""
    place = local_path(checkpoint)
    if place is not None and not place.is_dir():
        raise ErrorCode.STORAGE.error(
            f"The checkpoint of job '{job}' is gone: there is no {place}. Put it back; or begin anew: `lakeward jobs "
            f"drop {shell_word(job)}` forgets the job, and the next run reads from the start."
        )


def is_unused(checkpoint: str) -> bool:
    """Whether no stream has read anything by this checkpoint; one elsewhere counts as used."""
    place = local_path(checkpoint)
    return place is not None and not _batches(place / "offsets") and not _batches(place / "commits")


def _fault(place: Path) -> str | None:
    offsets, commits = _batches(place / "offsets"), _batches(place / "commits")
    metadata = place / "metadata"
    if not offsets:
        return None if not commits else f"{place / 'offsets'} is empty, and batch {commits[-1]} was committed"
    if not metadata.exists():
        return f"{metadata} is missing"
    if commits and commits[-1] > offsets[-1]:
        return f"{place / 'offsets' / str(commits[-1])} is missing, and that batch was committed"
    newest = [place / "offsets" / str(batch) for batch in offsets[-2:]]
    newest += [place / "commits" / str(batch) for batch in commits[-1:]]
    return _not_json(metadata, metadata.read_text(errors="replace")) or next(filter(None, map(_torn, newest)), None)


def _batches(folder: Path) -> list[int]:
    """Numbers of the batches that a log holds."""
    try:
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())
    except FileNotFoundError:
        return []


def _torn(path: Path) -> str | None:
    """A file of a log is its version, then a line of JSON for each thing it says; '-' stands for nothing."""
    version, *lines = path.read_text(errors="replace").splitlines() or [""]
    if not version.startswith("v") or not lines:
        return f"{path} was not written to its end"
    return next(filter(None, (_not_json(path, line) for line in lines if line != "-")), None)


def _not_json(path: Path, text: str) -> str | None:
    try:
        json.loads(text)
    except ValueError:
        return f"{path} was not written to its end, or holds something else"
    return None
