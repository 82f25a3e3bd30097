"""How a pipeline is, written down and read again."""

from __future__ import annotations

import pytest

from lakeward.pipelines.status import PipelineState, PipelineStatus, TableStatus


def test_it_comes_back_as_it_was() -> None:
    """Every figure, every table."""
    table = TableStatus(source="a.b", target="c.d", phase="snapshot 43 %", rows=7, rows_per_s=1.5, lag_ms=3)
    status = PipelineStatus(
        name="p", state=PipelineState.WAITING, pid=1, since_ms=2, file="f", source="mysql", sink="fluss",
        tables=(table,), held_bytes=10, restarts=2, error="why", next_try_ms=9, notes=("n",),
    )  # fmt: skip
    assert PipelineStatus.of_json(status.to_json()) == status


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"version": 2}'])
def test_what_is_no_status_is_refused(content: bytes) -> None:
    """Half a file, or one of another version."""
    with pytest.raises(ValueError, match=r"."):
        PipelineStatus.of_json(content)
