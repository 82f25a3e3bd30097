"""What linters say of the files that run Lakeward elsewhere; `make test-containers` installs those that pip has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_CHART = _ROOT / "deploy" / "helm" / "lakeward"
_HELM = os.environ.get("HELM") or shutil.which("helm")
_ENGINES = ["none", "local", "spark"]


def _tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here")
    return found


def _clean(*command: str) -> str:
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("file", ["Dockerfile", "deploy/spark/Dockerfile"])
def test_hadolint_finds_nothing(file: str) -> None:
    """The linter of Dockerfiles."""
    assert _clean(_tool("hadolint"), file) == ""


def test_the_compose_file_can_be_read() -> None:
    """podman-compose resolves all of it."""
    text = _clean(_tool("podman-compose"), "-f", "compose.yaml", "config")
    assert "service_healthy" in text


@pytest.mark.skipif(_HELM is None, reason="helm is not installed here; HELM names it elsewhere")
@pytest.mark.parametrize("engine", _ENGINES)
def test_the_chart_is_what_kubernetes_takes(engine: str, tmp_path: Path) -> None:
    """`helm lint`, and every object against the schemas of Kubernetes; those of operators are not among them."""
    assert _HELM is not None
    _clean(_HELM, "lint", "--strict", str(_CHART), "--set", f"tiering.engine={engine}")
    file = tmp_path / "all.yaml"
    settings = f"tiering.engine={engine},serviceMonitor.enabled=true"
    file.write_text(_clean(_HELM, "template", "x", str(_CHART), "--kube-version", "1.31.0", "--set", settings))
    said = _clean(_tool("kubernetes-validate"), "--strict", "-k", "1.31", str(file))
    assert "passed for resource statefulset" in said


def test_prometheus_takes_its_configuration() -> None:
    """Scrape jobs and rules."""
    _clean(_tool("promtool"), "check", "config", "deploy/prometheus/prometheus.yaml")
