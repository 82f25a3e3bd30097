"""A measure in a process of its own: bounded in time, and its failure is a sentence on its line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.proof.promises import MEASURES, Measure

Answer = dict[str, Any]


def run(measure: Measure) -> Answer:
    """`figures` by key, `lines` that a measure brings along, or `wrong`: why there are none."""
    if measure.needs_java and not (shutil.which("java") and shutil.which("mvn")):
        return {"wrong": "not compared: needs Java and Maven"}
    with tempfile.TemporaryDirectory(prefix="lakeward-proof-") as place:
        answer = Path(place) / "answer.json"
        log = Path(place) / "log"
        with log.open("w") as sink:
            command = [sys.executable, "-m", "bench.proof", "--child", measure.name, str(answer)]
            child = subprocess.Popen(command, stdout=sink, stderr=sink, start_new_session=True)
            try:
                child.wait(measure.seconds)
            except subprocess.TimeoutExpired:
                return _read(answer) | {"wrong": f"not measured: more than {measure.seconds} s"}
            finally:
                _end(child)
        if child.returncode:
            said = log.read_text().strip().splitlines() or ["no reason given"]
            return _read(answer) | {"wrong": f"not measured: {said[-1][:160]}"}
        return _read(answer)


def _end(child: subprocess.Popen[bytes]) -> None:
    """What it started ends with it."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _read(answer: Path) -> Answer:
    return json.loads(answer.read_text()) if answer.exists() else {}


def child(name: str, answer: str) -> None:
    """In the process of its own: measure, and write down each figure as it comes."""
    module, function = MEASURES[name].function.split(":")
    told: Answer = {"figures": {}, "lines": []}

    def tell(key: str, value: Any) -> None:
        if key == "line":
            told["lines"].append(value)
        else:
            told["figures"][key] = value
        Path(answer).write_text(json.dumps(told))

    getattr(import_module(module), function)(tell)
