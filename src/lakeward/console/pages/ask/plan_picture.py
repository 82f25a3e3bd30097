"""PlanPicture: what a question reads of a table, as lanes of boxes; pure.

A lane is a bucket: its files of the lake, left, then the stretch of its log. What is read is filled, what was left out
is an outline. Boxes of one kind are as wide as what they hold is large, compared with the largest of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeward.client.forms.results import BucketId
from lakeward.console.text.figures import bytes_text
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, LogSplit, Split, StateSplit

WIDTH = 720
LABEL_WIDTH = 130
LANE_HEIGHT = 26
_LANES_MAX = 24
_BOXES_MAX = 40
_GAP = 3
_BOX_MIN = 4.0


@dataclass(frozen=True, slots=True)
class Part:
    """Something that is read, or left out: a file, a stretch of the log, or a state. `amount` is rows or offsets."""

    kind: str
    amount: int
    text: str
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class Box:
    """A part where it is drawn."""

    kind: str
    is_read: bool
    x: float
    width: float
    text: str

    @property
    def style(self) -> str:
        """Its class in the style sheet."""
        return f"plan-{self.kind}" if self.is_read else "plan-pruned"


@dataclass(frozen=True, slots=True)
class Lane:
    """One bucket."""

    name: str
    y: int
    boxes: list[Box]
    more: int
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """One table of a question."""

    table: str
    facts: list[tuple[str, str]]
    lanes: list[Lane]
    more_lanes: int
    height: int
    summary: str


def plan_picture(plan: Plan, whole: Plan | None) -> PlanPicture:
    """The picture of a plan; `whole` is the plan without filters, from which it is seen what they left out."""
    parts = _parts(plan.splits)
    read = {part.text for lane in parts.values() for part in lane if part.kind == "cold"}
    for id_, lane in _parts(whole.splits if whole is not None else ()).items():
        known = parts.setdefault(id_, [])
        known += [_left_out(part) for part in lane if part.kind == "cold" and part.text not in read]
        if not any(part.kind != "cold" for part in known):
            known += [_left_out(part) for part in lane if part.kind != "cold"]
    names = sorted(parts, key=lambda id_: (id_.partition or "", id_.bucket))
    largest = max((part.amount for lane in parts.values() for part in lane), default=1) or 1
    lanes = [_lane(id_, at, parts[id_], largest) for at, id_ in enumerate(names[:_LANES_MAX])]
    more = max(len(names) - _LANES_MAX, 0)
    summary = _summary(plan, sum(not part.is_read for lane in parts.values() for part in lane))
    return PlanPicture(plan.summary.name, _facts(plan), lanes, more, len(lanes) * LANE_HEIGHT + 6, summary)


def _left_out(part: Part) -> Part:
    return Part(part.kind, part.amount, part.text, is_read=False)


def _parts(splits: Sequence[Split]) -> dict[BucketId, list[Part]]:
    """What splits read, by bucket: files first."""
    found: dict[BucketId, list[Part]] = {}
    for split in splits:
        lane = found.setdefault(split.id, [])
        match split:
            case LakeSplit() | LakeRangeSplit():
                lane += [
                    Part("cold", f.rows, f"{_file_name(f.path)}, {f.rows:,} rows, {bytes_text(f.bytes)}")
                    for f in split.files
                ]
                if isinstance(split, LakeSplit) and split.log_offsets:
                    lane.append(_stretch(split.log_start, split.log_stop))
            case LogSplit():
                lane.append(_stretch(split.start, split.stop))
            case StateSplit():
                lane.append(Part("state", split.offsets, f"current state, after {split.offsets:,} changes"))
    return {id_: sorted(lane, key=lambda part: part.kind != "cold") for id_, lane in found.items()}


def _stretch(start: int, stop: int) -> Part:
    return Part("hot", stop - start, f"log, offsets {start:,} up to {stop:,}")


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _lane(id_: BucketId, at: int, parts: list[Part], largest: int) -> Lane:
    drawn = parts[:_BOXES_MAX]
    room = WIDTH - LABEL_WIDTH - _GAP * len(drawn)
    weights = [max(part.amount / largest, 0.01) for part in drawn]
    # A lane never outgrows the picture; within it, widths compare.
    scale = min(room / max(sum(weights), 1e-9), room / 3)
    boxes, x = [], float(LABEL_WIDTH)
    for part, weight in zip(drawn, weights, strict=True):
        width = min(max(weight * scale, _BOX_MIN), WIDTH - x)
        boxes.append(Box(part.kind, part.is_read, round(x, 1), round(width, 1), part.text))
        x += width + _GAP
    name = f"bucket {id_.bucket}" if id_.partition is None else f"{id_.partition} / {id_.bucket}"
    return Lane(name, at * LANE_HEIGHT + 4, boxes, len(parts) - len(drawn), parts)


def _facts(plan: Plan) -> list[tuple[str, str]]:
    told, cold = plan.summary, plan.summary.lake
    facts = []
    if told.partitions is not None:
        facts.append(("Partitions", f"{told.partitions[0]:,} of {told.partitions[1]:,}"))
    if cold is not None:
        files = f"{cold.files:,} of {cold.files_in_all:,} files, {cold.rows:,} rows, {bytes_text(cold.bytes)}"
        facts.append(("From the lake", f"{files} ({cold.format}, snapshot {cold.snapshot_id})"))
    about = f", about {bytes_text(told.log_bytes)}" if told.log_bytes else ""
    state = ", and the current state of servers" if told.is_state else ""
    facts.append(("From the log", told.log_share + about + state))
    facts.append(("Columns", f"{told.columns[0]:,} of {told.columns[1]:,}"))
    if told.filters:
        facts.append(("Pruned by", ", ".join(told.filters)))
    return facts


def _summary(plan: Plan, left_out: int) -> str:
    """The picture in a sentence, for those who do not see it."""
    told = plan.summary
    files = 0 if told.lake is None else told.lake.files
    text = f"Read of {told.name}: {files:,} files of the lake, {told.log_share} of the log, in {told.buckets:,} buckets"
    return f"{text}; {left_out:,} parts are left out by the filters." if left_out else f"{text}."
