"""Files that run Lakeward elsewhere: what their linters say, and what holds without them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from lakeward.cli.main import cli

_ROOT = Path(__file__).parents[2]
_CHART = _ROOT / "deploy" / "helm" / "lakeward"
_UNITS = sorted((_ROOT / "deploy" / "systemd").glob("*.service"))
_HELM = os.environ.get("HELM") or shutil.which("helm")
_SETTINGS = [
    "",
    "tiering.engine=local,tiering.lake.type=rest,tiering.secretRefs={keys},server.probe=tcp,serviceMonitor.enabled=true",
    "tiering.engine=spark,tiering.secretRefs={keys},console.enabled=false,server.secretRefs={a,b}",
]


def rendered(settings: str) -> list[dict[str, Any]]:
    """What the chart makes of settings."""
    assert _HELM is not None
    command = [_HELM, "template", "lakeward", str(_CHART), "--kube-version", "1.31.0"]
    done = subprocess.run([*command, *(["--set", settings] if settings else [])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


@pytest.mark.skipif(_HELM is None, reason="helm is not installed here; the chart is not rendered")
@pytest.mark.parametrize("settings", _SETTINGS)
def test_the_chart_renders_with_nobody_as_root(settings: str) -> None:
    """Whatever is asked for: pods are of an ordinary user, with a root file system that nobody writes to."""
    found = rendered(settings)
    pods = [one["spec"]["template"]["spec"] for one in found if one["kind"] in {"StatefulSet", "Deployment"}]
    assert pods
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        for container in (*pod["initContainers"], *pod["containers"]):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    (server,) = (one for one in found if one["kind"] == "StatefulSet")
    (container,) = server["spec"]["template"]["spec"]["containers"]
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)


@pytest.mark.skipif(_HELM is None, reason="helm is not installed here; the chart is not rendered")
def test_commands_and_options_of_the_chart_exist() -> None:
    """Every container is told a command that this program has, with options that it takes."""
    for settings in _SETTINGS[:2]:
        for one in rendered(settings):
            if one["kind"] not in {"StatefulSet", "Deployment"}:
                continue
            (container,) = one["spec"]["template"]["spec"]["containers"]
            command, *options = container["args"]
            known = CliRunner().invoke(cli, [command, "--help"]).output
            for option in options:
                if option.startswith("--"):
                    assert option.split("=")[0] in known, f"{command} {option}"


@pytest.mark.skipif(_HELM is None, reason="helm is not installed here; the chart is not rendered")
def test_an_engine_that_is_none_is_refused() -> None:
    """A word in the values that nobody knows is told, and nothing is installed."""
    assert _HELM is not None
    command = [_HELM, "template", "x", str(_CHART), "--kube-version", "1.31.0", "--set", "tiering.engine=flink"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "it may be none, local or spark" in done.stderr


def test_every_value_that_a_template_asks_for_has_a_default() -> None:
    """Values are documented where they are set; a template invents none."""
    values = yaml.safe_load((_CHART / "values.yaml").read_text())
    for template in (_CHART / "templates").iterdir():
        for path in re.findall(r"\.Values((?:\.\w+)+)", template.read_text()):
            node = values
            for name in path.strip(".").split("."):
                assert name in node, f"{template.name} asks for {path}"
                node = node[name]


@pytest.mark.parametrize("unit", _UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_one_that_systemd_takes(unit: Path, tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing; its command is one of this program, which is not installed there."""
    text = unit.read_text()
    words = re.search(r"ExecStart=\S+ ((?:.*\\\n)*.*)", text)
    assert words is not None
    command, *options = words[1].replace("\\\n", " ").split()
    known = CliRunner().invoke(cli, [command, "--help"]).output
    assert all(option in known for option in options if option.startswith("--")), options
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed here; the unit is not verified")
    there = tmp_path / unit.name
    there.write_text(text.replace("/opt/lakeward/bin/lakeward", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(there)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_image_takes_only_what_it_is_built_from() -> None:
    """What `COPY` names is let through by .dockerignore; nothing of this machine's environment is."""
    allowed = {line[1:] for line in (_ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for name in ("Dockerfile", "deploy/spark/Dockerfile"):
        for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", (_ROOT / name).read_text(), re.MULTILINE):
            for source in sources.split():
                assert any(source == one or source.startswith(f"{one}/") for one in allowed), source


def test_the_image_is_of_nobody_in_particular() -> None:
    """It ends as an ordinary user, answers to SIGTERM by itself, says how it does, and is of no architecture."""
    text = (_ROOT / "Dockerfile").read_text()
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["lakeward"]' in last
    assert 'CMD ["lakeward", "health"]' in last
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert not re.search(r"amd64|x86_64|aarch64|arm64", "\n".join(lines))
