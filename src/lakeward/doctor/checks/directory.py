"""The data directory: whose it is, who is in it, what was left there, and what kind of disk it is on."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning

_OTHERS = 0o077
_IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
_OVER_A_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "glusterfs", "ceph"}
_LEFTOVERS_SHOWN = 3


def _data_directory(facts: Facts) -> Iterator[Verdict]:
    directory = facts.directory
    assert directory is not None
    path = directory.path
    if not directory.is_data_directory:
        yield error(
            path,
            f"{path} is no data directory of Lakeward: no metadata files are in it.",
            "Name the server's own with --data-dir; `lakeward cluster options data.dir` tells it.",
        )
        return
    if directory.mode & _OTHERS:
        yield warning(
            path,
            f"Others than its owner may look into {path} (mode {directory.mode:04o}).",
            f"`chmod 700 {path}`; the server does so itself when it starts.",
        )
    if not (directory.is_readable and directory.is_writable):
        yield warning(
            path,
            f"{path} belongs to user {directory.owner}, and you are user {directory.looker}: a server that you start"
            " cannot use it.",
            f"Run as its owner, or `chown -R {directory.looker} {path}` while no server runs.",
        )
    if len(directory.holders) > 1:
        yield error(
            path,
            f"{len(directory.holders)} processes are in {path} at once: {', '.join(map(str, directory.holders))}.",
            "Stop all but one before they write over each other: a directory is for one server.",
        )
    if directory.is_being_restored:
        yield error(
            path,
            f"The restore of {path} was interrupted, and no server starts in it.",
            f"Run it again to its end: `lakeward restore --data-dir {path} …`.",
        )
    if directory.leftovers and not directory.holders:
        shown = ", ".join(directory.leftovers[:_LEFTOVERS_SHOWN])
        yield note(
            path,
            f"{len(directory.leftovers)} things were left behind by a crash or a repair: {shown}.",
            "The server clears away half-deleted tables when it starts; delete files named .given-up- when you are sure"
            " that you do not need them.",
        )


def _file_system(facts: Facts) -> Iterator[Verdict]:
    disk = facts.disk
    assert disk is not None
    if disk.kind in _IN_MEMORY:
        yield error(
            disk.path,
            f"{disk.path} is in memory ({disk.kind}): a restart of the machine loses every row.",
            "Put 'data.dir' on a disk: `lakeward serve --data-dir /var/lib/lakeward`.",
        )
    elif disk.kind in _OVER_A_NETWORK:
        yield warning(
            disk.path,
            f"{disk.path} is on {disk.kind}: each append waits for the network, and locks may not keep a second server"
            " out.",
            "Put 'data.dir' on a disk of this machine, and copies elsewhere with 'remote.data.dir'.",
        )


DIRECTORY_CHECKS = (
    Check(
        "data-directory",
        "Who may look into the data directory, who is in it, and what was left there.",
        _data_directory,
        needs=("directory",),
    ),
    Check(
        "file-system",
        "Whether the data directory is on a disk of this machine, not in memory or behind a network.",
        _file_system,
        needs=("disk",),
    ),
)
