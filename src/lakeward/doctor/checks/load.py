"""How quickly the server answers: the guide's slow writes and slow reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.samples import Samples
from lakeward.doctor.findings.check import Check, Verdict, warning

#: Quantiles of the last minute or two, and the bound of what is slow.
_RECENT = "lakeward_request_recent_seconds"
_SLOW_S = 0.25
_LATE_LOOP_S = 0.05
_WRITES = ("PRODUCE_LOG", "PUT_KV")
_READS = ("FETCH_LOG", "LOOKUP", "PREFIX_LOOKUP", "LIMIT_SCAN", "SCAN_KV")


def _slow_writes(facts: Facts) -> Iterator[Verdict]:
    yield from _slow(
        facts,
        _WRITES,
        "write",
        "Send larger batches ('client.writer.batch-size', 'client.writer.batch-timeout'), spread the table over more"
        " buckets, and see whether the disk is slow with `iostat -x 1`.",
    )


def _slow_reads(facts: Facts) -> Iterator[Verdict]:
    yield from _slow(
        facts,
        _READS,
        "read",
        "Ask for fewer columns and filter on the server, look up many keys at a time, and read history from the lake"
        " (`lakeward sql`).",
    )


def _slow(facts: Facts, apis: Sequence[str], verb: str, do: str) -> Iterator[Verdict]:
    assert facts.metrics is not None
    for api in apis:
        seconds = facts.metrics.total(_RECENT, api=api, quantile="0.99")
        if seconds is not None and seconds > _SLOW_S:
            late = _late_loop(facts.metrics)
            why = "" if late is None else f", and its event loop is up to {1000 * late:,.0f} ms late: CPU is short"
            yield warning(
                api,
                f"One {verb} in a hundred ({api}) took more than {1000 * seconds:,.0f} ms of the server's time"
                f" lately{why}.",
                do,
            )


def _late_loop(metrics: Samples) -> float | None:
    late = metrics.quantile("lakeward_event_loop_delay_seconds", 0.99)
    return late if late is not None and late > _LATE_LOOP_S else None


LOAD_CHECKS = (
    Check("slow-writes", "How long the server took for writes in the last minutes.", _slow_writes, needs=("metrics",)),
    Check("slow-reads", "How long the server took for reads in the last minutes.", _slow_reads, needs=("metrics",)),
)
