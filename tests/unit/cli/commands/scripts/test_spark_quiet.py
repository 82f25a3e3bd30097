"""What others write to stderr goes into a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, sys
from pathlib import Path
from lakeward.cli.commands.scripts.spark_quiet import quiet_spark
from lakeward.cli.output.listing import say

say("before")
with quiet_spark(Path(sys.argv[1])):
    say("ours")
    os.system("echo 'theirs: a page of it' >&2; echo '03:31:39 WARN bridge: The server is away.' >&2")
    import time; time.sleep(0.5)
say("after")
"""


def test_ours_is_shown_and_theirs_is_kept(tmp_path: Path) -> None:
    """What the bridge has to say to a person is said."""
    log = tmp_path / "logs" / "run.log"
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(log)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == ["before", "ours", "The server is away.", "after"]
    assert log.read_text().splitlines() == ["theirs: a page of it", "03:31:39 WARN bridge: The server is away."]


def test_without_room_for_a_file_it_is_quiet_all_the_same(tmp_path: Path) -> None:
    """And nothing stands still because nobody listens."""
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "file" / "run.log")], capture_output=True, text=True
    )
    assert done.stderr.splitlines() == ["before", "ours", "The server is away.", "after"]


def test_old_logs_go(tmp_path: Path) -> None:
    """The last ten stay."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(30):
        (logs / f"run-{number}.log").write_text("")
    subprocess.run([sys.executable, "-c", PROGRAM, str(logs / "run.log")], capture_output=True, text=True)
    assert len(list(logs.iterdir())) == 11
