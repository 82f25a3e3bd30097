"""What is stored: the disk, damage, the copies in remote storage."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.machine import DiskFacts
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning
from lakeward.options.server import DATA_DIR, DISK_WRITE_LIMIT, LOG_SCRUB_RATE

#: From the limit down to this much below it, it is said that the limit is near.
_NEAR = 0.05
_GB = 1e9
_INODES_LEFT = 0.05


def _disk(facts: Facts) -> Iterator[Verdict]:
    for reason, told in _stops(facts):
        yield error(_data_dir(facts), f"Nothing can be written: {told}", _how_to_make_room(reason))
    disk = facts.disk or _told_disk(facts)
    if disk is None:
        return
    if disk.is_read_only:
        yield error(
            disk.path,
            f"{disk.path} is mounted read-only.",
            f"See why with `dmesg | tail`, mend it and mount it again: `mount -o remount,rw {disk.path}`.",
        )
    limit = DISK_WRITE_LIMIT.read(facts.options or {})
    used = 1 - disk.free_bytes / disk.total_bytes if disk.total_bytes else 0.0
    if used >= limit - _NEAR and not list(_stops(facts)):
        yield warning(
            disk.path,
            f"{disk.path} is {100 * used:.1f} % full, {disk.free_bytes / _GB:.1f} GB are left; writes stop at"
            f" {100 * limit:.0f} % ('{DISK_WRITE_LIMIT.key}').",
            _how_to_make_room(""),
        )
    if disk.inodes and disk.inodes_free < _INODES_LEFT * disk.inodes:
        yield warning(
            disk.path,
            f"{disk.path} has {disk.inodes_free:,} of {disk.inodes:,} inodes left: soon no file can be made, however"
            " much room there is.",
            "Make fewer and larger segments ('log.segment.file-size'), fewer buckets, or take a file system with more"
            " inodes.",
        )


def _told_disk(facts: Facts) -> DiskFacts | None:
    """The server's disk as it tells of it itself."""
    metrics = facts.metrics
    if metrics is None:
        return None
    free, total = metrics.total("lakeward_disk_free_bytes"), metrics.total("lakeward_disk_total_bytes")
    return DiskFacts(_data_dir(facts), int(total), int(free)) if free is not None and total else None


def _stops(facts: Facts) -> Iterator[tuple[str, str]]:
    """Why the server writes nothing, by what it calls the reason."""
    health = facts.health or {}
    if health.get("status") != "read-only":
        return
    known = {"status", "tables", "damaged", "clock", "version", "time_ms", "clients", "tablet_servers"}
    yield from ((reason, str(told)) for reason, told in health.items() if reason not in known)


def _how_to_make_room(reason: str) -> str:
    if reason and reason != "full disk":
        return "Mend what the sentence names, and start the server again: it reads meanwhile."
    return "Free some room: drop a table (`lakeward tables drop db.table`), or shorten 'table.log.ttl' of the largest."


def _data_dir(facts: Facts) -> str:
    return (facts.options or {}).get(DATA_DIR.key, "")


def _damage(facts: Facts) -> Iterator[Verdict]:
    for one in (facts.health or {}).get("damaged", ()):
        yield error(
            one["log"],
            f"Offsets {one['first']} to {one['end']} of {one['log']} cannot be read: {one['reason']} ({one['file']}).",
            f"Stop the server and bring the file back from a copy, or give the range up: `lakeward repair {one['log']}"
            f" {one['first']} {one['end']} --data-dir …`; see docs/guides/damage.md.",
        )


def _scrub(facts: Facts) -> Iterator[Verdict]:
    if LOG_SCRUB_RATE.read(facts.options or {}) == 0:
        yield note(
            LOG_SCRUB_RATE.key,
            "Closed segments are not read again, so bytes that rot are found only when somebody reads them.",
            f"Set '{LOG_SCRUB_RATE.key}' to 8mb and start the server again.",
        )


def _remote_copies(facts: Facts) -> Iterator[Verdict]:
    remote = facts.remote or {}
    if remote.get("is_failing"):
        yield error(
            remote.get("store", ""),
            f"Copies to {remote.get('store')} fail: {remote.get('reason')}",
            "Mend the store or its credentials; until then local segments are kept. See `lakeward remote status`.",
        )


STORAGE_CHECKS = (
    Check(
        "disk",
        "Whether there is room for data, room for files, and whether anything can be written at all.",
        _disk,
        any_of=("health", "disk", "metrics"),
    ),
    Check(
        "damaged-segments",
        "Ranges of offsets that cannot be read, as the background scrub or a reader has found them.",
        _damage,
        needs=("health",),
    ),
    Check("scrub", "Whether closed segments are read again, so that rot is found.", _scrub, needs=("options",)),
    Check("remote-copies", "Whether copies to remote storage succeed.", _remote_copies, needs=("remote",)),
)
