"""lakeward pipeline plan, with databases that only pretend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pipeline_events import BEFORE

from lakeward.capture.port import SourceTable
from lakeward.cli.commands.pipelines import pipeline_plan
from lakeward.cli.main import cli
from lakeward.errors import ErrorCode
from lakeward.pipelines.definition import PipelineDefinition

_PIPELINE = """\
source: {{type: postgres, hostname: {0}, username: u, password: {0}-secret, database-name: d, tables: public.lines}}
sink: {{type: print}}
pipeline: {{name: of-{0}}}
"""


class _Source:
    """A database whose host says how it is."""

    def __init__(self, definition: PipelineDefinition) -> None:
        self._host = definition.source.options["hostname"]

    def tables(self) -> Sequence[SourceTable]:
        if self._host == "away":
            raise ErrorCode.NETWORK.error("away cannot be reached with away-secret.")
        return [BEFORE]

    def check(self) -> None:
        if self._host == "strict":
            raise ErrorCode.AUTHORIZATION.error("User 'u' may not replicate.")


@pytest.fixture(autouse=True)
def _pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline_plan, "PipelineSource", _Source)


def _plan(place: Path, *hosts: str, more: Sequence[str] = ()) -> Result:
    (place / "p.yaml").write_text("---\n".join(_PIPELINE.format(host) for host in hosts))
    return CliRunner().invoke(cli, ["pipeline", "plan", str(place / "p.yaml"), *more])


def test_pipelines_are_planned_though_others_cannot_be(tmp_path: Path) -> None:
    """Each that cannot is told with its name, after the plans; without its password."""
    done = _plan(tmp_path, "away", "fine", "strict")
    assert done.exit_code == 1
    assert "of-fine: postgres → print" in done.stdout
    assert "of-away: away cannot be reached with ***" in done.stderr
    assert "of-strict: User 'u' may not replicate." in done.stderr
    assert "away-secret" not in done.output


def test_a_plan_asks_whether_the_stream_could_begin(tmp_path: Path) -> None:
    """Settings of the server and rights of the user, not only what tables there are."""
    done = _plan(tmp_path, "strict", more=["--output", "json"])
    assert (done.exit_code, json.loads(done.stdout)) == (1, [])
    assert "User 'u' may not replicate." in done.stderr
