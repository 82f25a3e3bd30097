"""A secret is itself, or where it is kept; nobody is shown it, and a file that others may read is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from lakeward.errors import InvalidError
from lakeward.runtime.secret_text import BYTES_MAX, SecretText, reveal_secrets


def secret(text: str) -> SecretText:
    """A secret of an option."""
    return SecretText("some.password", text)


def kept(path: Path, content: bytes, mode: int = 0o600) -> SecretText:
    """A secret in a file."""
    path.write_bytes(content)
    path.chmod(mode)
    return secret(f"file:{path}")


@pytest.mark.parametrize("text", ["pw", "", "${env:X", "a ${env:X}", "$env:X", " file:/x", "ä\n"])
def test_a_plain_text_is_itself(text: str) -> None:
    """Nothing but a whole reference is one."""
    assert secret(text).reveal({"X": "other"}) == text


def test_a_variable_is_looked_up_each_time() -> None:
    """The environment of the process that needs it counts, when it needs it."""
    found = secret("${env:PW}")
    assert [found.reveal({"PW": "one"}), found.reveal({"PW": "two"})] == ["one", "two"]


def test_a_variable_that_is_not_set_is_named() -> None:
    """The option and the variable are what a person needs to know."""
    with pytest.raises(InvalidError, match=r"'some\.password': .* no variable PW\."):
        secret("${env:PW}").reveal({})


@pytest.mark.parametrize("content", [b"pw", b"pw\n", b"pw\r\n"])
def test_a_file_is_read_without_its_last_newline(tmp_path: Path, content: bytes) -> None:
    """An editor ends a file with a newline, and a password has none."""
    assert kept(tmp_path / "pw", content).reveal() == "pw"


def test_a_changed_file_counts(tmp_path: Path) -> None:
    """Whoever changes a password changes the file, and restarts nothing."""
    found = kept(tmp_path / "pw", b"old")
    assert found.reveal() == "old"
    (tmp_path / "pw").write_text("new")
    assert found.reveal() == "new"


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o602, 0o644, 0o777])
def test_a_file_of_others_is_refused(tmp_path: Path, mode: int) -> None:
    """A file with a secret is its owner's alone; the message says how to make it so."""
    with pytest.raises(InvalidError, match="chmod 600"):
        kept(tmp_path / "pw", b"pw", mode).reveal()


def test_what_is_no_file_with_one_text_is_refused(tmp_path: Path) -> None:
    """Missing, a directory, too large, not a text, a pipe without an end: an error that says which, at once."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    for found, why in (
        (secret(f"file:{tmp_path}/none"), "No such file"),
        (secret(f"file:{tmp_path}"), "directory"),
        (secret(f"file:{tmp_path}/pipe"), "not a file"),
        (kept(tmp_path / "large", b"x" * (BYTES_MAX + 1)), "more than"),
        (kept(tmp_path / "bytes", b"\xff\xfe"), "UTF-8"),
    ):
        with pytest.raises(InvalidError, match=why):
            found.reveal()


def test_it_is_never_shown_but_where_it_is_kept_is() -> None:
    """A reference helps who reads a log; a password helps the wrong ones."""
    assert "pw" not in f"{secret('pw')!r} {secret('pw')}"
    assert "${env:PW}" in repr(secret("${env:PW}"))


def test_it_travels_as_it_was_given() -> None:
    """What is pickled for another process is the reference, not what it stands for."""
    assert b"hidden" not in pickle.dumps(secret("${env:PW}"))
    assert pickle.loads(pickle.dumps(secret("${env:PW}"))).reveal({"PW": "hidden"}) == "hidden"


def test_only_what_sounds_like_a_secret_is_looked_up(tmp_path: Path) -> None:
    """A warehouse may be a file: address; keys and tokens of a store, and of a catalog, are secrets."""
    kept(tmp_path / "pw", b"pw")
    place = f"file:{tmp_path}/pw"
    told = reveal_secrets({"warehouse": place, "s3.secret-access-key": place, "token": place, "uri": "x"})
    assert told == {"warehouse": place, "s3.secret-access-key": "pw", "token": "pw", "uri": "x"}
