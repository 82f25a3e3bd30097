"""`python -m bench.server.append_checks`: what looking at batches costs the server, by codec, in one interleaved run.

Servers with `log.batch.check=full` and `=structure`, and one that looks at nothing (the check is taken out of it), take
the same appends from pyfluss in turn. Printed: their CPU seconds, user and system, and how much more than nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import fluss

from bench.rows import BATCH_ROWS, SCHEMA, batches

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from server_process import ServerProcess

CODECS = ("ZSTD", "LZ4_FRAME", "NONE")
_BLIND = """
import runpy, sys
from lakeward.server.tablet.log import append_checks
append_checks.AppendChecks.begin = lambda _, table, bucket, *__: append_checks.Rest(table.path, bucket)
sys.argv[0] = "lakeward"
runpy.run_module("lakeward", run_name="__main__")
"""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="bench.server.append_checks", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of each append (default 2,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts (default 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lakeward-bench-") as name:
        asyncio.run(_measure(Path(name), arguments.rows, arguments.rounds))


async def _measure(directory: Path, rows: int, rounds: int) -> None:
    blind = ServerProcess(directory / "nothing")
    (directory / "blind.py").write_text(_BLIND)
    blind.program = [str(directory / "blind.py")]
    servers = {
        "nothing": blind,
        "structure": ServerProcess(directory / "structure", log__batch__check="structure"),
        "full": ServerProcess(directory / "full"),
    }
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    for server in servers.values():
        server.start()
    try:
        for number in range(rounds + 1):
            for codec in CODECS:
                for name, server in servers.items():
                    cpu_s = await _append(server, codec, rows)
                    if number:  # the first round warms up
                        spent[codec, name].append(cpu_s)
    finally:
        for server in servers.values():
            server.stop()
    print("| codec | checked | server's CPU | more than nothing |\n|---|---|---|---|")
    for codec in CODECS:
        base = statistics.median(spent[codec, "nothing"])
        for name in servers:
            median = statistics.median(spent[codec, name])
            print(f"| {codec} | {name} | {median:.3f} s | {100 * (median / base - 1):+.1f} % |")


async def _append(server: ServerProcess, codec: str, rows: int) -> float:
    connection = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": server.bootstrap}))
    admin, path = connection.get_admin(), fluss.TablePath("fluss", "bench_checks")
    descriptor = fluss.TableDescriptor(
        fluss.Schema(SCHEMA), bucket_count=2, properties={"table.log.arrow.compression.type": codec}
    )
    await admin.create_table(path, descriptor, ignore_if_exists=False)
    writer = (await connection.get_table(path)).new_append().create_writer()
    work = batches(rows // BATCH_ROWS)
    before_s = _cpu_s(server.pid)
    for batch in work:
        writer.write_arrow_batch(batch)
    await writer.flush()
    spent_s = _cpu_s(server.pid) - before_s
    await admin.drop_table(path, ignore_if_not_exists=False)
    await connection.close()
    return spent_s


def _cpu_s(pid: int) -> float:
    """CPU time of all threads; the scheduler counts nanoseconds where `cpu_times` counts hundredths of a second."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


if __name__ == "__main__":
    sys.exit(main())
