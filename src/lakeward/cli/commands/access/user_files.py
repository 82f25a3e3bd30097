"""The users of a data directory for the command line: one change at a time, and passwords that nobody sees."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.input.failures import Failure
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import DIRECTORY_MODE
from lakeward.runtime.files.whole_file import make_lasting_directory
from lakeward.runtime.process.process_lock import awaited_lock
from lakeward.runtime.secret_text import read_private

if TYPE_CHECKING:
    from lakeward.server.access.known.users_file import User

_PATIENCE_S = 10.0
_PASSWORD_BYTES_MAX = 4096
_STDIN = "-"


def users_in(data_dir: Path) -> dict[str, User]:
    """Who is known to the server of a data directory."""
    from lakeward.server.access.known.users_file import USERS_FILE, read_users

    return read_users(LocalFiles(), data_dir / USERS_FILE)


@contextmanager
def users_to_change(data_dir: Path) -> Iterator[dict[str, User]]:
    """The same, to be changed and then kept; whoever changes them at the same time waits. A failure changes nothing."""
    from lakeward.server.access.known.users_file import LOCK_FILE, USERS_FILE, read_users, write_users

    disk = LocalFiles()
    make_lasting_directory(disk, data_dir, DIRECTORY_MODE)
    _check_owner(data_dir)
    lock = awaited_lock(data_dir / LOCK_FILE, _PATIENCE_S)
    if lock is None:
        raise Failure(f"The users in {data_dir} are being changed by another command for {_PATIENCE_S:g} s already.")
    try:
        users = read_users(disk, data_dir / USERS_FILE)
        yield users
        write_users(disk, data_dir / USERS_FILE, users)
    finally:
        os.close(lock)


def new_password(file: str | None) -> str:
    """A password: from a file that only its owner may read, from stdin, or asked for twice at a terminal."""
    if file is not None and file != _STDIN:
        try:
            return read_private(file, _PASSWORD_BYTES_MAX).decode().rstrip("\r\n")
        except ValueError as wrong:  # also bytes that are no text, which are not shown
            raise Failure(f"{file} is not UTF-8" if isinstance(wrong, UnicodeDecodeError) else str(wrong)) from None
    if file == _STDIN or not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _check_owner(data_dir: Path) -> None:
    """A file of another user than the server's could not be read by the server."""
    owner = data_dir.stat().st_uid
    if owner != os.geteuid():
        raise Failure(
            f"{data_dir} belongs to another user of this machine (uid {owner}); run this command as that one."
        )
