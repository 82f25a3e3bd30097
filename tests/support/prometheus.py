"""A real Prometheus that looks at what a test started, every half second."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pytest
import yaml
from eventually import eventually

_EVERY = "500ms"


class Prometheus:
    """A process of its own; `targets` are addresses by the name of their job."""

    def __init__(self, directory: Path, targets: Mapping[str, str], rules: str = "") -> None:
        program = shutil.which("prometheus")
        if program is None:
            pytest.skip("no Prometheus on this machine: apt-get install prometheus")
        directory.mkdir(parents=True)
        (directory / "alerts.yaml").write_text(rules or "groups: []\n")
        settings = {
            "global": {"scrape_interval": _EVERY, "evaluation_interval": _EVERY},
            "rule_files": ["alerts.yaml"],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [address]}]} for job, address in targets.items()
            ],
        }
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(settings))
        self._address = f"127.0.0.1:{_free_port()}"
        self._log = directory / "prometheus.log"
        self._command = [
            program,
            f"--config.file={directory / 'prometheus.yaml'}",
            f"--storage.tsdb.path={directory / 'data'}",
            f"--web.listen-address={self._address}",
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        assert eventually(self._is_ready), self._log.read_text()[-2000:]
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def ask(self, query: str) -> list[dict[str, Any]]:
        """What a question is answered with, right now."""
        found: list[dict[str, Any]] = self._get(f"query?{urllib.parse.urlencode({'query': query})}")["result"]
        return found

    def firing(self) -> set[str]:
        """The alerts that fire."""
        alerts = self._get("alerts")["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def _is_ready(self) -> bool:
        try:
            return bool(self._get("query?query=1")["result"])
        except OSError:
            return False

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://{self._address}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)["data"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
