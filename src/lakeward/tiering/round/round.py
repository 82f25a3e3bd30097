"""One table's round: what to read, tasks, one lake commit, the report. The lake's own snapshot is the only truth.

lake says snapshot 41, server says 40      a crash came between commit and report: the server is told, then we go on
lake and server agree                      the log from the lake's offsets to its end is split, read and committed
the lake says more than we planned on      another service was first: our files are removed, nothing is lost
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakeward.client.admin.lake import KEEP_ALL, LakeTotals, TieringRound
from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.errors import ErrorCode
from lakeward.lake.catalog_of import format_name
from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.home import to_remember
from lakeward.lake.port import LakeSnapshot, LakeTable
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.tiering import DEAD_LETTER_TABLE, LAKE_WAREHOUSE, PAUSED, REQUESTED_MS, SKIP_DAMAGED, SKIP_LOST
from lakeward.runtime.clock import Clock
from lakeward.telemetry.tracing.tracer import Tracer
from lakeward.telemetry.tracing.trail import Trail
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.damaged_buckets import before_damage, passed_ranges, read_up_to, without
from lakeward.tiering.round.runner import Runner
from lakeward.tiering.round.split_generator import BucketLog, end_offsets, generate
from lakeward.tiering.task.dead_letters import deliver
from lakeward.tiering.task.splits import TieringSplit
from lakeward.tiering.task.task import TaskResult, TieringTask, place_of

#: A task of this many rows takes a few seconds: enough to be worth its start, few enough to be even.
_ROWS_PER_SPLIT = 4_000_000
_ROWS_PER_SPLIT_MIN = 500_000


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What a round has done. Without a snapshot there was nothing to do."""

    path: TablePath
    snapshot_id: int | None
    repaired: bool
    rows: int = 0
    file_bytes: int = 0
    files: int = 0
    tasks: int = 0
    seconds: float = 0.0
    dead_letters: int = 0
    #: Offsets that were passed over, and buckets that stopped at damage: a line for each.
    left_out: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    #: What the lake's table holds in all.
    totals: LakeTotals | None = None


@dataclass(frozen=True, slots=True)
class RoundContext:
    """What rounds share."""

    conn: Connection
    catalogs: LakeCatalogs
    runner: Runner
    clock: Clock
    bootstrap: str
    client: Mapping[str, str]
    #: Whether servers let a bucket's state be read (SCAN_KV); without, its changelog is.
    reads_state: bool = True
    #: Follows rounds; None where nobody wants to see them.
    tracer: Tracer | None = None


def run_round(context: RoundContext, assigned: TieringRound) -> RoundReport:
    """Move what the log has and the lake lacks of one table."""
    about = {"table": str(assigned.path), "epoch": str(assigned.tiering_epoch)}
    with Trail(context.tracer, "tiering round", **about) as trail:
        return _run_round(context, assigned, trail)


def _run_round(context: RoundContext, assigned: TieringRound, trail: Trail) -> RoundReport:
    began = context.clock.monotonic()
    table = context.conn.table(str(assigned.path))
    if table.info.table_id != assigned.table_id:
        raise ErrorCode.TABLE_NOT_EXIST.error(f"{assigned.path} was dropped and created anew; its old rounds are over.")
    custom = table.info.descriptor.custom_properties
    if PAUSED.read(custom) and not _was_asked_for(
        context, table.info
    ):  # our coordinator gives out no such table; Apache's does
        return RoundReport(assigned.path, None, repaired=False)
    with trail.step("look at the lake"):
        _remember_lake(context, table.info)
        lake, known = _lake_of(context, table.info)
        in_lake = _offsets_of(context, table.info, known)
        repaired = known is not None and _repair(context, table.info, known, in_lake)
    with trail.step("plan"):
        logs = _logs(table)
        passed = passed_ranges(SKIP_DAMAGED.read(custom), assigned.path)
        planned = generate(
            table.info,
            in_lake,
            logs,
            rows_per_split=_rows_per_split(in_lake, logs, context.runner.slots),
            state_at_first=context.reads_state,
            skips_lost=SKIP_LOST.read(custom),
        )
    if not planned:
        return RoundReport(assigned.path, None, repaired, seconds=context.clock.monotonic() - began)
    splits = without(planned, passed)
    with trail.step("tasks", count=str(len(splits))):
        tasks = _tasks(context, table.info, lake, splits) if splits else []
        done = context.runner.run(f"Tiering {assigned.path}", tasks) if tasks else []
    results, behind = before_damage(done)
    read = read_up_to(in_lake, logs, results, passed)
    _check_progress(lake, in_lake, logs, done, read)
    lake.discard([r.written.record for r in behind])
    snapshot = _commit_round(
        context, table.info, lake, known, assigned, end_offsets(in_lake, logs, read), results, trail
    )
    asked_once = [option.key for option in (SKIP_LOST, SKIP_DAMAGED) if option.read(custom)]
    if asked_once:
        context.conn.alter_table(str(assigned.path), reset=asked_once)  # the next gap is a new question
    return RoundReport(
        assigned.path,
        snapshot.snapshot_id,
        repaired,
        rows=sum(r.written.rows for r in results),
        file_bytes=sum(r.written.file_bytes for r in results),
        files=sum(r.written.files for r in results),
        tasks=len(results),
        seconds=context.clock.monotonic() - began,
        dead_letters=sum(len(r.letters) for r in results),
        left_out=(
            *(line for r in results for line in r.left_out),
            *(f"{one} was passed over as told" for one in passed),
        ),
        stopped=tuple(r.stopped for r in results if r.stopped),
        totals=LakeTotals(snapshot.total_bytes, snapshot.total_rows),
    )


def _lake_of(context: RoundContext, info: TableInfo) -> tuple[LakeTable, LakeSnapshot | None]:
    """The lake's table with all our columns, and its newest snapshot. One that is an earlier table's stays as it is."""
    catalog = context.catalogs.of(info)
    there = catalog.load(info.path)
    if there is not None:
        _offsets_of(context, info, there.latest())
    lake = catalog.ensure(info)
    return lake, lake.latest()


def _remember_lake(context: RoundContext, info: TableInfo) -> None:
    """Write down where the table's lake is; a table that is in another one is not tiered again."""
    if LAKE_WAREHOUSE.read(info.descriptor.custom_properties) == context.catalogs.place_of(info):
        return
    told = to_remember(info, context.catalogs.given, is_tiered=context.conn.lake.snapshot(info.path) is not None)
    if told:
        context.conn.alter_table(str(info.path), set=told)


def _was_asked_for(context: RoundContext, info: TableInfo) -> bool:
    """Whether `tier now` was said since the last round; a paused table is tiered once then."""
    asked_ms = REQUESTED_MS.read(info.descriptor.custom_properties)
    if asked_ms is None:
        return False
    known = context.catalogs.of(info).ensure(info).latest()
    return known is None or known.committed_ms < asked_ms


def _offsets_of(context: RoundContext, info: TableInfo, known: LakeSnapshot | None) -> Mapping[TableBucket, int]:
    """How far the lake is. A snapshot of Apache Fluss's service names a document, one that `lakeward copy` handed over
    names the table of another cluster: the server has been told what they mean here."""
    if known is None:
        return {}
    is_foreign = known.offsets is not None and any(b.table_id != info.table_id for b in known.offsets)
    if known.offsets is not None and not is_foreign:
        return known.offsets
    told = context.conn.lake.snapshot(info.path)
    if told is not None and told.snapshot_id == known.snapshot_id:
        return told.offsets
    if is_foreign:
        raise ErrorCode.LAKE_TABLE_ALREADY_EXIST.error(
            f"The lake's table {info.path} is that of an earlier table of this name. "
            f"`lakeward lake drop {info.path}` removes it."
        )
    raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
        f"Snapshot {known.snapshot_id} of {info.path} was made by another tiering service, and the server does not "
        f"know its offsets (they are in {known.offsets_path}). Let that service finish its round first."
    )


def _repair(context: RoundContext, info: TableInfo, known: LakeSnapshot, in_lake: Mapping[TableBucket, int]) -> bool:
    """Tell the server of a snapshot that it has not heard of; whether that was needed."""
    told = context.conn.lake.snapshot(info.path)
    if told is not None and told.snapshot_id == known.snapshot_id:
        return False
    path = context.conn.lake.prepare(info.path, info.table_id, in_lake)
    _tell(context, info, known.snapshot_id, path, in_lake, {})
    return True


def _tell(
    context: RoundContext,
    info: TableInfo,
    snapshot_id: int,
    offsets_path: str,
    offsets: Mapping[TableBucket, int],
    newest_ms: Mapping[TableBucket, int],
) -> None:
    """What is in the lake can be read there: our snapshots are whole."""
    context.conn.lake.commit(
        info.table_id,
        snapshot_id,
        offsets_path,
        readable_path=offsets_path,
        keep_from=KEEP_ALL,
        new_offsets=offsets,
        max_times_ms=newest_ms,
    )


def _logs(table: Table) -> list[BucketLog]:
    starts, ends = table.offsets("earliest"), table.offsets("latest")
    ids: dict[str | None, int | None] = {None: None}
    if table.info.descriptor.is_partitioned:
        ids = {p.name: p.id for p in table.partitions()}
    return [
        BucketLog(TableBucket(table.info.table_id, ids[id_.partition], id_.bucket), id_.partition, starts[id_], end)
        for id_, end in ends.items()
        if id_ in starts and id_.partition in ids
    ]


def _rows_per_split(in_lake: Mapping[TableBucket, int], logs: Sequence[BucketLog], slots: int) -> int:
    """Small rounds in as many tasks as run at once, large ones in tasks of a bounded size."""
    rows = sum(log.end - in_lake.get(log.bucket, log.start) for log in logs)
    return min(_ROWS_PER_SPLIT, max(_ROWS_PER_SPLIT_MIN, -(-rows // max(slots, 1))))


def _tasks(
    context: RoundContext, info: TableInfo, lake: LakeTable, splits: Sequence[TieringSplit]
) -> list[TieringTask]:
    name = format_name(info)
    writings = lake.writing([place_of(s) for s in splits])
    takes_letters = DEAD_LETTER_TABLE.read(info.descriptor.custom_properties) is not None
    return [
        TieringTask(context.bootstrap, context.client, info.path, info.table_id, split, name, writing, takes_letters)
        for split, writing in zip(splits, writings, strict=True)
    ]


def _check_progress(
    lake: LakeTable,
    in_lake: Mapping[TableBucket, int],
    logs: Sequence[BucketLog],
    done: Sequence[TaskResult],
    read: Mapping[TableBucket, int],
) -> None:
    """A round in which damage stops every bucket that has something is a failure: told, and tried less and less."""
    begins = {log.bucket: in_lake.get(log.bucket, log.start) for log in logs}
    reasons = [r.stopped for r in done if r.stopped]
    if reasons and not any(to > begins.get(bucket, 0) for bucket, to in read.items()):
        lake.discard([r.written.record for r in done])
        raise ErrorCode.CORRUPT_RECORD.error(" ".join(reasons))


def _commit_round(
    context: RoundContext,
    info: TableInfo,
    lake: LakeTable,
    known: LakeSnapshot | None,
    assigned: TieringRound,
    offsets: Mapping[TableBucket, int],
    results: Sequence[TaskResult],
    trail: Trail,
) -> LakeSnapshot:
    """First letters and document, then the lake, then the server: a crash in between is repaired by the next round."""
    newest: dict[TableBucket, int] = {}
    for result in results:
        if result.newest_ms is not None:
            newest[result.bucket] = max(newest.get(result.bucket, 0), result.newest_ms)
    written = [r.written.record for r in results]
    try:
        with trail.step("prepare"):
            deliver(context.conn, info, [letter for r in results for letter in r.letters])
            path = context.conn.lake.prepare(info.path, info.table_id, offsets)
        round_ = RoundProperties(info.table_id, offsets, assigned.tiering_epoch, path)
        with trail.step("lake commit"):
            snapshot = lake.commit(written, round_, None if known is None else known.snapshot_id)
    except LakeConflictError:
        lake.discard(written)  # of any other failure we cannot know whether the lake took them
        raise
    with trail.step("report"):
        _tell(context, info, snapshot.snapshot_id, path, offsets, newest)
    return snapshot
