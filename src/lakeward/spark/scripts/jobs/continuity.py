"""Continuity: can a statement go on from what an earlier one left? Values only."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.spark.scripts.jobs.job_record import JobRecord, StreamRecord
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan

#: A longer description says nothing to a person.
_STATE_SHOWN = 80


def what_to_do(name: str) -> str:
    """The three ways out for whoever changed a query that cannot go on."""
    return (
        f"Put the old text back to go on where it was; or SET 'pipeline.name' to another name to begin anew beside it; "
        f"or forget where it was with `lakeward jobs drop {shell_word(name)}`, and it begins anew under its name."
    )


def shell_word(name: str) -> str:
    """A name as a shell takes it."""
    return name if name.replace("-", "").replace("_", "").replace(".", "").isalnum() else f"'{name}'"


def pairs(record: JobRecord, streams: Sequence[StreamPlan]) -> list[StreamRecord] | None:
    """For each stream the one that it continues: of the same sink, of the same text first; None where they differ."""
    left = list(record.streams)
    if sorted(record.sinks) != sorted(stream.sink for stream in streams):
        return None
    found: dict[int, StreamRecord] = {}
    for is_same_text in (True, False):
        for i, stream in enumerate(streams):
            if i in found:
                continue
            fits = (one for one in left if one.sink == stream.sink and (one.text == stream.text or not is_same_text))
            if (old := next(fits, None)) is not None:
                found[i] = old
                left.remove(old)
    return [found[i] for i in range(len(streams))]


def difference(record: JobRecord, streams: Sequence[StreamPlan]) -> str | None:
    """Why the job cannot go on with these streams, as half a sentence; None when it can."""
    paired = pairs(record, streams)
    if paired is None:
        return f"it wrote into {_list(record.sinks)}, and now would into {_list([s.sink for s in streams])}"
    for old, new in zip(paired, streams, strict=True):
        if old.into != new.into:
            now = f"and now that is another table{_in_brackets(new.into)}"
            return f"it wrote into {new.sink}{_in_brackets(old.into)}, {now}"
        if sorted(old.sources) != sorted(new.sources):
            return f"it read {_list(old.sources)}, and now would read {_list(new.sources)}"
        if old.state != new.state:
            return _of_state(old, new)
    return None


def refusal(record: JobRecord, streams: Sequence[StreamPlan]) -> str | None:
    """Why the job cannot go on with these streams, and what to do; None when it can."""
    why = difference(record, streams)
    if why is None:
        return None
    return f"Job '{record.name}' cannot go on from its checkpoint: {why}. {what_to_do(record.name)}"


def _of_state(old: StreamRecord, new: StreamPlan) -> str:
    if not old.state:
        return f"the changed query into {new.sink} keeps state{_in_brackets(new.state)}, and the one before kept none"
    if not new.state:
        return f"the query into {new.sink} kept state{_in_brackets(old.state)}, and the changed one keeps none"
    if max(len(old.state), len(new.state)) > _STATE_SHOWN:
        return f"the query into {new.sink} keeps state, and was changed in what that state depends on"
    return f"the query into {new.sink} kept state for {old.state}, and the changed one needs state for {new.state}"


def _in_brackets(told: str) -> str:
    return f" ({told})" if told and len(told) <= _STATE_SHOWN else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "no table"
