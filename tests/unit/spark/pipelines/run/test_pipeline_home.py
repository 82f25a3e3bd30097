"""Where it is written down how pipelines are."""

from __future__ import annotations

import os
from pathlib import Path

from lakeward.pipelines.status import PipelineState, PipelineStatus
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome


def test_a_status_whose_process_is_gone_is_killed(tmp_path: Path) -> None:
    """The lock goes with the process; forgetting removes the checkpoint too."""
    home = PipelineHome.of_environment({"LAKEWARD_STATE": str(tmp_path)})
    checkpoint = home.checkpoint("a/b", None)
    status = PipelineStatus(
        name="a/b", state=PipelineState.RUNNING, pid=1, since_ms=0, file="f", source="mysql", sink="fluss",
        checkpoint=checkpoint,
    )  # fmt: skip
    lock = home.places.lock("a/b")
    assert lock is not None
    home.write(status)
    assert home.status("a/b") == status
    os.close(lock)
    assert [one.state for one in home.statuses()] == [PipelineState.KILLED]
    home.forget("a/b")
    assert home.statuses() == []
    assert not Path(checkpoint).exists()
    assert home.checkpoint("x", str(tmp_path / "else")) == str(tmp_path / "else/x")
