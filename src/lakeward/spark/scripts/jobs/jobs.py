"""Jobs: streaming statements are started, watched and stopped here; the same name goes on from the same checkpoint."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.runtime.files.private_files import private_directory
from lakeward.runtime.process.child import running_children
from lakeward.runtime.process.process_mark import is_marked_alive, process_mark
from lakeward.spark.scripts.jobs.checkpoint_check import check_checkpoint, check_presence, is_unused
from lakeward.spark.scripts.jobs.continuity import pairs, refusal, shell_word
from lakeward.spark.scripts.jobs.job import STOP_PATIENCE_S, Job
from lakeward.spark.scripts.jobs.job_home import JobHome, local_path
from lakeward.spark.scripts.jobs.job_names import derived_name, folder_name, plain_text, stream_folders
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamRecord
from lakeward.spark.scripts.jobs.running_stream import RunningStream
from lakeward.spark.scripts.jobs.spark_failure import failure_sentence
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan

_LOOK_EVERY_S = 0.5
#: Children of a killed process are ended within ten seconds.
_CHILDREN_S = 30.0
_CHILDREN_PAUSE_S = 0.1
_log = logging.getLogger(__name__)


class Jobs:
    """The jobs of one process."""

    def __init__(
        self,
        home: JobHome | None = None,
        *,
        checkpoints: str | None = None,
        script: str | None = None,
        texts: Collection[str] = (),
        clock: Clock | None = None,
    ) -> None:
        """`checkpoints` is a directory for those of all jobs; without it each is beside its record.

        `script` is the file whose statements are started, and `texts` are those of its inserts: a job whose text is
        still among them is not taken for an earlier form of a changed one.
        """
        self._home = home or JobHome.of_environment()
        self._checkpoints = checkpoints
        self._script = script
        self._texts = frozenset(map(plain_text, texts))
        self._clock = clock or SystemClock()
        self._guard = threading.RLock()
        self._counts: Counter[tuple[str | None, tuple[str, ...]]] = Counter()
        self._keeper: threading.Thread | None = None
        self._is_closed = False
        self.started: list[Job] = []
        """All that were started here, in that order."""

    @property
    def running(self) -> list[Job]:
        """Those that go on."""
        return [job for job in self.started if job.state is JobState.RUNNING]

    def start(
        self,
        streams: Sequence[StreamPlan],
        *,
        name: str | None,
        script: str | None = None,
        checkpoints: str | None = None,
    ) -> Job:
        """Start a job, from its checkpoint if it has one.

        A LakewardError if it runs already, or if what it reads, writes or keeps is not what its checkpoint is of.
        """
        script = script or self._script
        told = [replace(stream, text=plain_text(stream.text)) for stream in streams]
        with self._guard:
            if self._is_closed:
                raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("No more jobs are started: these are being stopped.")
            chosen = self._choose_name(told, name, script)
            lock = self._home.lock(chosen)
            if lock is None:
                raise self._runs_already(chosen)
            try:
                job = self._start_locked(told, chosen, script, checkpoints or self._checkpoints, lock, bool(name))
            except BaseException:
                os.close(lock)
                raise
            self._counts[script, tuple(stream.sink for stream in told)] += 1
            self.started.append(job)
            self._keep_an_eye()
        return job

    def stop(self, patience_s: float = STOP_PATIENCE_S) -> None:
        """Stop all that run, each at the end of a batch; one that is just being started is waited for."""
        if self._guard.acquire(timeout=patience_s):
            self._guard.release()
        running = self.running
        if running:
            with ThreadPoolExecutor(len(running)) as threads:
                list(threads.map(lambda job: job.stop(patience_s), running))

    def close(self, patience_s: float = STOP_PATIENCE_S) -> None:
        """Start no more, and stop all that run."""
        self._is_closed = True
        self.stop(patience_s)

    def _choose_name(self, streams: Sequence[StreamPlan], name: str | None, script: str | None) -> str:
        sinks, texts = tuple(s.sink for s in streams), tuple(s.text for s in streams)
        if name:
            return self._number_name(name, sinks)
        derived = derived_name(streams)
        known = [r for r in self._home.records() if isinstance(r, JobRecord) and not r.is_named and r.sinks == sinks]
        same = [r for r in known if r.texts == texts and (r.name == derived or (script and r.script == script))]
        if same:
            return min(same, key=lambda r: r.script != script).name  # of this script before those of others
        ordinal = self._counts[script, sinks]
        ours = {job.name for job in self.started}
        earlier = [
            r
            for r in known
            if script and (r.script, r.ordinal) == (script, ordinal) and r.name not in ours
            if not self._texts.issuperset(r.texts)
        ]
        return max(earlier, key=lambda r: r.since_ms).name if earlier else derived

    def _number_name(self, name: str, sinks: tuple[str, ...]) -> str:
        """A name that holds for several statements of a script is numbered from the second on."""
        chosen, count = name, 1
        taken = {job.name: job.record.sinks for job in self.started}
        while taken.get(chosen, sinks) != sinks:
            count += 1
            chosen = f"{name}-{count}"
        return chosen

    def _start_locked(
        self,
        streams: Sequence[StreamPlan],
        name: str,
        script: str | None,
        checkpoints: str | None,
        lock: int,
        is_named: bool,
    ) -> Job:
        earlier = self._home.read(name)
        if earlier is not None and (why := refusal(earlier, streams)) is not None:
            if not all(is_unused(stream.checkpoint) for stream in earlier.streams):
                raise ErrorCode.INVALID_CONFIG.error(why)
            self._home.drop(name)  # it never began
            earlier = None
        if earlier is not None:
            self._await_children(earlier)
        checkpoint = self._checkpoint_of(name, earlier, checkpoints)
        if earlier is not None:
            check_presence(name, checkpoint)
        record = JobRecord(
            name=name,
            state=JobState.RUNNING,
            since_ms=self._clock.now_ms(),
            pid=os.getpid(),
            checkpoint=checkpoint,
            streams=_stream_records(streams, earlier, checkpoint),
            script=script,
            ordinal=self._counts[script, tuple(stream.sink for stream in streams)],
            is_named=is_named,
            children=tuple(filter(None, (process_mark(child.pid) for child in running_children()))),
        )
        is_continued = any(not is_unused(stream.checkpoint) for stream in record.streams)
        for stream in record.streams:
            check_checkpoint(name, stream.checkpoint)
            _make_directory(stream.checkpoint)
        self._home.forget_stop(name)
        self._home.write(record)
        running = self._start_streams(record, streams)
        is_changed = earlier is not None and sorted(earlier.texts) != sorted(record.texts)
        return Job(record, running, self._home, self._clock, lock, is_continued=is_continued, is_changed=is_changed)

    def _start_streams(self, record: JobRecord, streams: Sequence[StreamPlan]) -> list[RunningStream]:
        running: list[RunningStream] = []
        try:
            for stream, told in zip(streams, record.streams, strict=True):
                name = record.name if len(streams) == 1 else f"{record.name}/{told.checkpoint.rpartition('/')[2]}"
                running.append(RunningStream(stream, told.checkpoint, name, self._clock))
        except BaseException as wrong:
            for one in running:
                one.query.stop()
            sentence = failure_sentence(wrong)
            state, error = (JobState.STOPPED, None) if self._is_closed else (JobState.FAILED, sentence)
            self._home.write(replace(record, state=state, error=error, ended_ms=self._clock.now_ms()))
            if isinstance(wrong, LakewardError) or not isinstance(wrong, Exception):
                raise
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(sentence) from wrong
        return running

    def _checkpoint_of(self, name: str, earlier: JobRecord | None, checkpoints: str | None) -> str:
        if checkpoints is None:
            return str(self._home.folder(name) / "checkpoint") if earlier is None else earlier.checkpoint
        root = checkpoints if local_path(checkpoints) is None else str(Path(local_path(checkpoints) or "").absolute())
        asked = f"{root.rstrip('/')}/{folder_name(name)}"
        if earlier is None or asked == earlier.checkpoint or _is_there(asked):
            return asked
        raise ErrorCode.INVALID_CONFIG.error(
            f"Job '{name}' has its checkpoint at {earlier.checkpoint}, not at {asked}. Leave the directory of "
            f"checkpoints as it was; or move the checkpoint there first; or forget it, to begin anew, with "
            f"`lakeward jobs drop {shell_word(name)}`."
        )

    def _await_children(self, earlier: JobRecord) -> None:
        """After kill -9 Spark's Java may still be at its last batch: two of them would spoil the checkpoint."""
        end_s, resting = self._clock.monotonic() + _CHILDREN_S, threading.Event()
        while left := [mark for mark in earlier.children if earlier.pid != os.getpid() and is_marked_alive(mark)]:
            if self._clock.monotonic() > end_s:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"Job '{earlier.name}' was killed, and a process that it started has not ended yet: "
                    f"{left[0].partition(':')[0]}. End it, and run this again."
                )
            resting.wait(_CHILDREN_PAUSE_S)

    def _runs_already(self, name: str) -> LakewardError:
        try:
            record = self._home.read(name)
        except LakewardError:
            record = None
        since = "" if record is None else f", in process {record.pid} since {_moment(record.since_ms)}"
        return ErrorCode.INVALID_CONFIG.error(
            f"Job '{name}' is running already{since}. Stop it first (`lakeward jobs stop {shell_word(name)}`), or SET "
            f"'pipeline.name' to another name to run this one beside it."
        )

    def _keep_an_eye(self) -> None:
        if self._keeper is None or not self._keeper.is_alive():
            self._keeper = threading.Thread(target=self._look_after, name="jobs", daemon=True)
            self._keeper.start()

    def _look_after(self) -> None:
        resting = threading.Event()
        while True:
            with self._guard:
                running = self.running
                if not running:
                    self._keeper = None
                    return
            for job in running:
                try:
                    job.look()
                except Exception:  # noqa: BLE001 - the other jobs are looked after all the same
                    _log.exception("job %s", job.name)
            resting.wait(_LOOK_EVERY_S)


def _stream_records(
    streams: Sequence[StreamPlan], earlier: JobRecord | None, checkpoint: str
) -> tuple[StreamRecord, ...]:
    """What is written down of streams; one that goes on keeps its folder, whatever stands before it by now."""
    paired = None if earlier is None else pairs(earlier, streams)
    if paired is None:
        folders = stream_folders([stream.sink for stream in streams])
    else:
        folders = [old.checkpoint.rpartition("/")[2] for old in paired]
    return tuple(
        StreamRecord(
            sink=stream.sink,
            text=stream.text,
            sources=stream.sources,
            state=stream.state,
            into=stream.into,
            checkpoint=f"{checkpoint}/{folder}",
        )
        for stream, folder in zip(streams, folders, strict=True)
    )


def _is_there(place: str) -> bool:
    path = local_path(place)
    return path is not None and path.is_dir()


def _make_directory(place: str) -> None:
    path = local_path(place)
    if path is None:
        return
    try:
        private_directory(path)
    except OSError as wrong:
        raise ErrorCode.STORAGE.error(
            f"{path}: a checkpoint cannot be kept there ({wrong.strerror}). Name another place with --checkpoints, or "
            f"with SET 'execution.checkpointing.dir'."
        ) from wrong


def _moment(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
