"""StagedSink: commits the parts of a batch id, once, however often it is asked. Runs on the driver.

    nothing → manifest → appended → done

Whoever finds a manifest carries it out, whatever parts come with the repetition: the rows are the same, their division
and order may not be. What the log holds of it already is read from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lakeward.client.blocking.sync import Connection
from lakeward.client.staged.commit.appender import Appender, WriterForgottenError
from lakeward.client.staged.commit.ledger import Contents, DoneBatch, Ledger
from lakeward.client.staged.commit.planning import plan_parts
from lakeward.client.staged.parts.manifest import Manifest
from lakeward.client.staged.parts.open_directory import directory_at
from lakeward.client.staged.parts.part import Part
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.client.upsert.written_columns import WrittenColumns
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath
from lakeward.runtime.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What a batch id has put into the table, now or (`already_done`) before."""

    rows: int
    bytes: int
    already_done: bool


class StagedSink:
    """Commits to one table.

    `directory` is a path or URI that belongs to one query and outlives it, such as one below its checkpoint; several
    tables may share it. Batch ids grow; one that was committed is never appended again. `tell` hears the name of each
    step before the next begins: planned, manifest, append (before each batch), appended, done, cleaned.
    """

    def __init__(
        self,
        conn: Connection,
        path: str | TablePath,
        directory: str,
        *,
        columns: Iterable[str] | None = None,
        clock: Clock | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._access = TableAccess(conn, path)
        self._columns = None if columns is None else frozenset(columns)
        self._clock = clock or SystemClock()
        self._tell = tell or _tell_nobody
        self._directory = directory_at(directory)
        self._appender = Appender(self._access, self._clock, self._tell)

    @property
    def _ledger(self) -> Ledger:
        return Ledger(self._directory, self._access.directory_name, self._clock)

    def commit(self, batch_id: int, parts: Sequence[bytes], *, keep: bool = False) -> CommitResult:
        """Append the rows of a batch, unless they are there; returns when all are acknowledged.

        With `keep` the parts stay where they are, for whoever has a use for them after that.
        """
        staged = [Part.of_bytes(p) for p in parts]
        staged = [p for p in staged if p.entries]
        self._access.refresh()  # the table may have been altered, or created again, since the last batch
        ledger, contents = self._ledger, self._ledger.contents()
        if batch_id <= contents.done_id:
            return self._repeat_result(ledger, batch_id, staged)
        before = self._finish_earlier(ledger, contents, batch_id)
        mine = False
        if batch_id in contents.manifests:
            manifest = ledger.manifest(batch_id, contents.manifests[batch_id])
        elif staged:
            mine, manifest = self._manifest(ledger, batch_id, staged, before)
        else:
            return CommitResult(0, 0, already_done=False)
        if manifest is None:
            return self._repeat_result(ledger, batch_id, staged)
        done = self._carry_out(ledger, manifest, untouched=mine, keep=keep)
        if not keep:
            ledger.drop_files(p.file for p in staged if p.file is not None)
        return CommitResult(done.rows, done.size_bytes, already_done=False)

    def abort(self, parts: Sequence[bytes]) -> None:
        """Delete parts that will not be committed; those of a commit that has begun are kept for its repetition."""
        staged = [Part.of_bytes(p) for p in parts]
        ledger = self._ledger
        ledger.drop_files((p.file for p in staged if p.file is not None), but=ledger.pending_files())

    # -- steps --------------------------------------------------------------------------------------------------------

    def _repeat_result(self, ledger: Ledger, batch_id: int, staged: Sequence[Part]) -> CommitResult:
        ledger.drop_files(p.file for p in staged if p.file is not None)
        done = ledger.find_done(batch_id)
        rows, size = (sum(p.rows for p in staged), 0) if done is None else (done.rows, done.size_bytes)
        return CommitResult(rows, size, already_done=True)

    def _finish_earlier(self, ledger: Ledger, contents: Contents, batch_id: int) -> DoneBatch | None:
        """A batch that was begun and not finished comes before any other; returns the last one that is done."""
        before = ledger.find_done(contents.done_id) if contents.done_id >= 0 else None
        for pending in contents.pending:
            if pending > batch_id:
                raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(
                    f"Batch {batch_id} of {self._access.path} comes after batch {pending} was begun; "
                    f"does another query use {self._directory.uri} too?"
                )
            if pending < batch_id:
                manifest = ledger.manifest(pending, contents.manifests[pending])
                if manifest is not None:
                    before = self._carry_out(ledger, manifest, untouched=False)
        return before

    def _manifest(
        self, ledger: Ledger, batch_id: int, staged: Sequence[Part], before: DoneBatch | None
    ) -> tuple[bool, Manifest | None]:
        """Whether the manifest of a batch is new, and the manifest; None when the batch was done in the meantime."""
        plan = plan_parts(staged, self._access.info, batch_id)
        self._check_columns(plan.target_columns)
        chain = None if before is None else before.chain
        manifest: Manifest | None = self._access.run(self._appender.manifest_of(batch_id, plan, chain))
        assert manifest is not None
        self._tell("planned")
        mine = ledger.create(manifest)
        contents = ledger.contents()
        if contents.done_id >= batch_id:
            # Somebody has committed this batch and deleted its manifest while this one slept.
            if mine:
                ledger.withdraw(manifest)
            return mine, None
        if not mine:
            manifest = ledger.manifest(batch_id, contents.manifests.get(batch_id, 1))
        self._tell("manifest")
        return mine, manifest

    def _check_columns(self, written: tuple[int, ...]) -> None:
        """What the tasks have written is what the commit was told, if it was told."""
        info = self._access.info
        if self._columns is None or not info.descriptor.has_primary_key:
            return

        named = WrittenColumns(info, [n for n in info.schema.names if n in self._columns])
        if named.positions != written:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"The tasks have written other columns of {info.path} than {', '.join(named.names)}; StagedWriter and "
                "StagedSink must name the same ones."
            )

    def _carry_out(self, ledger: Ledger, manifest: Manifest, *, untouched: bool, keep: bool = False) -> DoneBatch:
        while True:
            try:
                self._access.run(self._appender.append(manifest, untouched=untouched))
                break
            except WriterForgottenError as wrong:
                revised = self._access.run(self._appender.rename_writer(manifest, wrong.forgotten))
                if not ledger.create(revised):
                    revised = ledger.manifest(revised.batch_id, revised.revision) or revised
                manifest, untouched = revised, False
            except LakewardError:
                if ledger.contents().done_id >= manifest.batch_id:
                    break  # somebody else was quicker, and has deleted the parts already
                raise
        self._tell("appended")
        done = DoneBatch.of(manifest, self._clock.now_ms())
        ledger.mark_done(done)
        self._tell("done")
        if not keep:
            ledger.drop_files(manifest.files)
            ledger.clean(manifest.batch_id)
        self._tell("cleaned")
        return done


def _tell_nobody(step: str) -> None:
    """No one listens."""
