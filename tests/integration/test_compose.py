"""compose.yaml, as processes: the same commands, options, variables and health checks, without containers.

Hosts become 127.0.0.1, ports free ones, paths of volumes directories of the test. Where podman and runc work, `make
test-containers` builds the image and runs it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_process import Cli
from eventually import eventually
from seaweed import Bucket, _free_ports

from lakeward.runtime.process.child import Child

_ROOT = Path(__file__).parents[2]
_PORTS = ("9122", "9123", "9124", "9180", "9333", "8380", "8888", "8333", "9090")
_HOST = re.compile(r"\b(server|tiering|console|s3|prometheus|localhost)(?=:\d)|(?<=-ip=)s3\b|\b0\.0\.0\.0\b")
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


class Services:
    """The services of the file, rewritten for this machine and started in the order of their needs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = yaml.safe_load((_ROOT / "compose.yaml").read_text())["services"]
        self.ports = dict(zip(_PORTS, map(str, _free_ports(len(_PORTS))), strict=True))
        self.processes: dict[str, Child] = {}

    def here(self, text: str, service: str) -> str:
        """A command or a setting as it must read on this machine."""
        for volume in self.file[service].get("volumes", ()):
            source, target, *_ = volume.split(":")
            place = self.directory / service / Path(source).name
            place.mkdir(parents=True, exist_ok=True)
            text = re.sub(rf"(?<![\w/.]){target}(?=/|\s|$)", str(place), text)
        return re.sub(r"\b\d{4}\b", lambda found: self.ports.get(found[0], found[0]), _HOST.sub("127.0.0.1", text))

    def environment(self, service: str) -> dict[str, str]:
        """Its variables."""
        given = self.file[service].get("environment", {})
        return {name: self.here(_VARIABLE.sub(r"\2", value), service) for name, value in given.items()}

    def start(self, service: str) -> None:
        """Start it once those it needs are well."""
        for needed, how in self.file[service].get("depends_on", {}).items():
            assert how["condition"] == "service_healthy"
            assert eventually(lambda one=needed: self.is_well(one)), self.log(needed)
        command = [*_program(service), *shlex.split(self.here(self.file[service]["command"], service))]
        with (self.directory / f"{service}.log").open("w") as log:
            self.processes[service] = Child(
                command,
                env={**os.environ, **self.environment(service)},
                cwd=self.directory,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def is_well(self, service: str) -> bool:
        """What its health check says."""
        kind, *command = self.file[service]["healthcheck"]["test"]
        assert kind == "CMD"
        words = [self.here(word, service) for word in command]
        if words[0] == "wget":  # of the image; not every machine has one
            return _page(words[-1]) is not None
        return subprocess.run([*_program(service), *words[1:]], capture_output=True, check=False).returncode == 0

    def log(self, service: str) -> str:
        """What it said."""
        return (self.directory / f"{service}.log").read_text()[-4000:]


def _program(service: str) -> list[str]:
    weed = Path(sys.executable).with_name("weed")
    return {"s3": [str(weed)], "prometheus": ["prometheus"]}.get(service, [sys.executable, "-m", "lakeward"])


def _page(url: str) -> str | None:
    with suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())
    return None


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """All of them but Prometheus, which not every machine has."""
    found = Services(tmp_path_factory.mktemp("compose"))
    with ExitStack() as stack:
        for name in ("s3", "server", "tiering", "console"):
            found.start(name)
            stack.callback(found.processes[name].kill)
        yield found


@pytest.mark.slow
def test_rows_get_into_the_lake_and_every_service_is_well(services: Services, tmp_path: Path) -> None:
    """Written at the port for this machine, tiered by the service, found as Parquet in the bucket."""
    cli = Cli(f"127.0.0.1:{services.ports['9123']}", tmp_path)
    lake = ("-p", "table.datalake.enabled=true", "-p", "table.datalake.freshness=1s")
    cli.ok("tables", "create", "fluss.visits", "id BIGINT", *lake)
    cli.ok("append", "fluss.visits", "-", "--format", "json", stdin='{"id": 1}\n{"id": 2}\n')
    for name in ("server", "tiering", "console"):
        assert eventually(lambda one=name: services.is_well(one)), services.log(name)
    cli.ok("tier", "now", "fluss.visits", "--wait", "--timeout", "100")
    keys = services.environment("s3")
    endpoint = f"http://127.0.0.1:{services.ports['8333']}"
    bucket = Bucket(endpoint, "lakeward", keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])
    found = [one["Key"] for one in bucket.client().list_objects_v2(Bucket="lakeward", Prefix="lake/")["Contents"]]
    assert any(name.endswith(".parquet") for name in found), found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus is not installed here")
def test_prometheus_scrapes_what_it_is_told_to(services: Services) -> None:
    """Server and tiering are up, by the scrape file that the container gets; it reads the rules, too."""
    rules = services.directory / "prometheus" / "prometheus"
    shutil.copytree(_ROOT / "deploy" / "prometheus", rules)
    file = rules / "prometheus.yaml"
    file.write_text(services.here(file.read_text(), "s3").replace("_interval: 15s", "_interval: 1s"))
    services.start("prometheus")
    try:
        url = f"http://127.0.0.1:{services.ports['9090']}/api/v1/query?query=up"
        assert eventually(lambda: _up(url) >= {"lakeward", "lakeward-tiering"}), services.log("prometheus")
    finally:
        services.processes["prometheus"].kill()


def _up(url: str) -> set[str]:
    answer: dict[str, Any] = json.loads(_page(url) or '{"data": {"result": []}}')
    return {one["metric"]["job"] for one in answer["data"]["result"] if one["value"][1] == "1"}


def test_ports_are_this_machines_and_every_service_of_ours_stops_in_time() -> None:
    """Nothing is open to the world by default, and Docker waits as long as a stop takes."""
    for name, service in yaml.safe_load((_ROOT / "compose.yaml").read_text())["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        if service["image"] == "lakeward":
            assert service["stop_grace_period"] == "10s"
            assert service["cap_drop"] == ["ALL"]
