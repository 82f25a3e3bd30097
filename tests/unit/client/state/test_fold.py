"""A changelog folded by key is the state a dict would have."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.state import fold
from lakeward.client.state.fold import ChangelogFold

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64()), ("_bucket", pa.int32()), ("_change_type", pa.string())])
#: Key, bucket, and what is done to it.
CHANGES = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.booleans()), max_size=20), max_size=6)


def changelog(batches: list[list[tuple[int, int, bool]]]) -> tuple[list[pa.RecordBatch], dict[tuple[int, int], int]]:
    """The log that a server would write, and what a dict makes of it."""
    state: dict[tuple[int, int], int] = {}
    made, version = [], 0
    for batch in batches:
        rows = []
        for key, bucket, deletes in batch:
            version += 1
            old = state.get((key, bucket))
            if deletes:
                if old is not None:
                    rows.append((key, old, bucket, "-D"))
                    del state[key, bucket]
                continue
            if old is None:
                rows.append((key, version, bucket, "+I"))
            else:
                rows += [(key, old, bucket, "-U"), (key, version, bucket, "+U")]
            state[key, bucket] = version
        columns = [list(c) for c in zip(*rows, strict=True)] or [[], [], [], []]
        made.append(
            pa.RecordBatch.from_arrays(
                [pa.array(c, t.type) for c, t in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
            )
        )
    return made, state


@pytest.mark.parametrize("rows_at_once", [1, 7, 1 << 20])
@given(changes=CHANGES)
def test_the_fold_is_what_a_dict_holds(rows_at_once: int, changes: list[list[tuple[int, int, bool]]]) -> None:
    """However often it is folded on the way; the same key in two buckets is two rows."""
    batches, expected = changelog(changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "_FOLD_ROWS", rows_at_once)
        folded = ChangelogFold(SCHEMA, ["id"])
        for batch in batches:
            folded.add(batch)
        state = folded.state()
    found = {(r["id"], r["_bucket"]): r["v"] for r in state.to_pylist()}
    assert len(found) == state.num_rows
    assert found == expected


def test_a_changelog_without_old_rows_folds_too() -> None:
    """With +U and -D alone."""
    rows = [(1, 10, 0, "+U"), (2, 20, 0, "+U"), (1, 11, 0, "+U"), (2, 20, 0, "-D")]
    batch = pa.RecordBatch.from_pylist([dict(zip(SCHEMA.names, r, strict=True)) for r in rows], schema=SCHEMA)
    folded = ChangelogFold(SCHEMA, ["id"])
    folded.add(batch)
    assert folded.state().select(["id", "v"]).to_pylist() == [{"id": 1, "v": 11}]
