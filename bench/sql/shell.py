"""`lakeward shell`: until the prompt, and until a SELECT is answered: `python -m bench.sql.shell [--rounds N]`."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

import lakeward as lw
from bench.targets import lakeward

_PROMPT_S, _ANSWER_S = 1.0, 15.0
_PATIENCE_S = 300


def main() -> None:
    """Run, print; whether both are within what was promised is the exit code."""
    parser = argparse.ArgumentParser(prog="bench.sql.shell", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="shells; the median counts (default 5)")
    arguments = parser.parse_args()
    target = lakeward()
    try:
        with lw.connect(target.bootstrap) as connection:
            connection.create_database("bench_shell")
            table = connection.create_table("bench_shell.orders", "id BIGINT, item STRING")
            table.append([{"id": number, "item": "ab"[number % 2]} for number in range(1000)])
        rounds = [_measure(target.bootstrap) for _ in range(arguments.rounds)]
    finally:
        target.stop()
    prompt_s, answer_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"until the prompt: {prompt_s:.2f} s (at most {_PROMPT_S:g})")
    print(f"until the first answer of a bounded SELECT: {answer_s:.1f} s (at most {_ANSWER_S:g})")
    sys.exit(prompt_s > _PROMPT_S or answer_s > _ANSWER_S)


def _measure(bootstrap: str) -> tuple[float, float]:
    """Seconds from the start to the prompt, and to the rows; the statement is typed when the prompt is there."""
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "LAKEWARD_STATE": state, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
        program = str(Path(sys.executable).with_name("lakeward"))
        begun_s = time.monotonic()
        shell = pexpect.spawn(program, ["shell", "-s", bootstrap], env=environment, timeout=_PATIENCE_S)
        shell.expect_exact("lakeward>")
        prompt_s = time.monotonic() - begun_s
        shell.send("SELECT item, count(*) AS many FROM bench_shell.orders GROUP BY item ORDER BY item;\r")
        shell.expect(rb"\na +500\r\nb +500")
        answer_s = time.monotonic() - begun_s
        shell.sendeof()
        shell.expect(pexpect.EOF)
        shell.close()
    print(f"  prompt {prompt_s:.2f} s, answer {answer_s:.1f} s", flush=True)
    return prompt_s, answer_s


if __name__ == "__main__":
    main()
