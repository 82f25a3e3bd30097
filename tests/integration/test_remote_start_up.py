"""A server whose remote storage is wrong does not start, and says in one sentence why."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import forked
import pytest
from cli_process import Cli
from remote_tables import EAGER, append_ids, wait_for_history
from seaweed import READ_ONLY_KEY, READ_ONLY_SECRET, SECRET_KEY, Bucket
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import WireTable, create_database

NewServer = Callable[..., ServerProcess]


def _refused(data_dir: Path, options: Mapping[str, str]) -> str:
    """What `lakeward serve` says when it does not start."""
    flags = [part for key, value in options.items() for part in ("-D", f"{key}={value}")]
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(data_dir), *flags]
    done = forked.run(command)
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert SECRET_KEY not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"s3.access-key": "nobody"},
            "the store does not know the access key; check s3.access-key and s3.secret-key (InvalidAccessKeyId).",
        ),
        (
            {"s3.secret-key": "wrong"},
            "the secret does not fit the access key; check s3.access-key and s3.secret-key (SignatureDoesNotMatch).",
        ),
        (
            {"s3.access-key": READ_ONLY_KEY, "s3.secret-key": READ_ONLY_SECRET},
            "these keys may not do that (AccessDenied).",
        ),
        (
            {"s3.endpoint": "http://127.0.0.1:9", "remote.store.startup-timeout": "500ms"},
            "nothing listens at http://127.0.0.1:9; check s3.endpoint.",
        ),
    ],
    ids=["unknown key", "wrong secret", "read only", "nobody there"],
)
def test_wrong_keys_and_addresses_are_found_at_the_start(
    s3: Bucket, tmp_path: Path, change: dict[str, str], sentence: str
) -> None:
    """The sentence names the store and the option to look at, and the exit code is 1."""
    said = _refused(tmp_path / "data", {"remote.data.dir": s3.url, **s3.settings, **change})
    assert said == f"Error: The remote storage {s3.url} cannot be used: {sentence}"


def test_a_missing_bucket_is_found_at_the_start(s3: Bucket, tmp_path: Path) -> None:
    """A bucket is not created by accident."""
    said = _refused(tmp_path / "data", {"remote.data.dir": "s3://no-such-bucket/x", **s3.settings})
    assert said == (
        "Error: The remote storage s3://no-such-bucket/x cannot be used: The bucket 'no-such-bucket' does not exist; "
        "create it, or name another."
    )


def test_a_directory_that_cannot_be_written_is_found_at_the_start(tmp_path: Path) -> None:
    """A file where the directory should be."""
    (tmp_path / "file").write_text("")
    said = _refused(tmp_path / "data", {"remote.data.dir": str(tmp_path / "file")})
    assert said == f"Error: The remote storage {tmp_path}/file cannot be used: not a directory."


@pytest.mark.long
def test_a_store_that_was_there_before_may_be_away_at_the_start(s3: Bucket, new_server: NewServer) -> None:
    """An outage of the store is no reason for a server not to serve what it has; it says so in its log."""
    server = new_server(**s3.server_options, remote__store__startup_timeout="500ms")
    server.stop()
    server.options["s3.endpoint"] = "http://127.0.0.1:9"
    server.start()
    assert "It was there before; copies go on when it is back." in server.log_text
    assert "Traceback" not in server.log_text


def test_a_new_place_must_have_the_history_of_the_old_one(new_server: NewServer, tmp_path: Path) -> None:
    """Rows that are called copied would leave this disk although they are not in the new place; a moved one is fine."""
    old, new = tmp_path / "old", tmp_path / "new"
    server = new_server(remote__data__dir=str(old), **EAGER)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        append_ids(table, 60)
        wait_for_history(server.data_dir, table)
    server.stop()
    said = _refused(server.data_dir, {"remote.data.dir": str(new)})
    assert said.startswith(
        f"Error: remote.data.dir was {old} and is {new} now, but the history of this server's tables"
    )
    shutil.copytree(old, new, dirs_exist_ok=True)
    server.options["remote.data.dir"] = str(new)
    server.start()
    with WireCluster.of(server.bootstrap) as cluster:
        info = WireTable.find(cluster, table.path).fetch(0).remote_log_fetch_info
    assert info is not None
    assert info.remote_log_tablet_dir.startswith(str(new))


def test_secrets_are_in_no_answer_and_no_log(
    s3: Bucket, new_server: NewServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lakeward cluster` shows that keys are set, not what they are; a misspelt key is pointed out by its name."""
    monkeypatch.chdir(tmp_path)
    server = new_server(**s3.server_options, s3__secret_kye="oops-a-secret")
    shown = Cli(server.bootstrap, tmp_path).ok("cluster", "options")
    assert "s3.secret-key" in shown
    for text in (shown, server.log_text):
        assert SECRET_KEY not in text
        assert s3.access_key not in text
        assert "oops-a-secret" not in text
    assert "'s3.secret-kye' is not used. The nearest known name is 's3.secret-key'." in server.log_text
