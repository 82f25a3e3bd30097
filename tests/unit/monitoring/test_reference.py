"""Dashboards, rules and their page are what the rows say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lakeward.monitoring.alerts import ALERTS
from lakeward.monitoring.dashboards import DASHBOARDS
from lakeward.monitoring.reference import files, main

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("path", "text"), list(files()), ids=lambda one: one.name if isinstance(one, Path) else "")
def test_a_file_is_what_the_rows_say(path: Path, text: str) -> None:
    """Run `make docs` after changing a row."""
    assert (ROOT / path).read_text(encoding="utf-8") == text


def test_files_that_are_old_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--check writes nothing, and names the command."""
    assert main(["--check", str(tmp_path)]) == 1
    assert "python -m lakeward.monitoring.reference" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.name)
def test_panels_of_a_dashboard_do_not_overlap(dashboard: object) -> None:
    """Grafana draws them where the file says."""
    document = json.loads((ROOT / f"deploy/grafana/{dashboard.name}.json").read_text())  # type: ignore[attr-defined]
    taken = [
        (x, y)
        for panel in document["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
    assert len({panel["id"] for panel in document["panels"]}) == len(document["panels"])


def test_prometheus_takes_the_rules() -> None:
    """promtool reads them as Prometheus would."""
    path = ROOT / "deploy/prometheus/alerts.yaml"
    (group,) = yaml.safe_load(path.read_text())["groups"]
    assert [rule["alert"] for rule in group["rules"]] == [alert.name for alert in ALERTS]
    if shutil.which("promtool") is None:
        pytest.skip("no promtool on this machine: apt-get install prometheus")
    subprocess.run(["promtool", "check", "rules", str(path)], check=True, capture_output=True)
