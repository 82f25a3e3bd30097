"""A plan as a drawing."""

from __future__ import annotations

import itertools
from dataclasses import replace

from fake_cluster import table_info

from lakeward.console.pages.ask.plan_picture import WIDTH, plan_picture
from lakeward.lake.port import LakeFile
from lakeward.query.plan.plan import LakeShare, Plan, summary
from lakeward.query.plan.splits import LakeSplit, LogSplit, Split, StateSplit, Tier
from lakeward.query.request.request import ReadRequest

INFO = table_info("id BIGINT, name STRING", buckets=2)
LAKE = LakeShare("iceberg", 42, 1, 2, 10, 900, {Tier.LAKE_ONLY: 1})


def file(name: str, rows: int) -> LakeFile:
    """A file of the lake."""
    return LakeFile(f"file:///lake/{name}.parquet", rows, rows * 90)


def plan_of(*splits: Split) -> Plan:
    """A plan of these splits."""
    return Plan(splits, replace(summary(INFO, ReadRequest(INFO.path), splits), lake=LAKE))


def test_a_bucket_is_a_lane_of_files_and_then_its_log() -> None:
    """Boxes stand beside each other and stay within the picture."""
    cold = LakeSplit(None, 0, "iceberg", 42, (file("a", 10), file("b", 1000)), 5, 25)
    picture = plan_picture(plan_of(LogSplit(None, 1, 0, 7), cold), None)
    assert [lane.name for lane in picture.lanes] == ["bucket 0", "bucket 1"]
    first = picture.lanes[0].boxes
    assert [box.kind for box in first] == ["cold", "cold", "hot"]
    assert all(left.x + left.width < right.x for left, right in itertools.pairwise(first))
    assert first[-1].x + first[-1].width <= WIDTH
    assert first[0].width < first[1].width
    assert "offsets 5 up to 25" in first[2].text


def test_what_filters_left_out_is_an_outline() -> None:
    """A file that only the plan without filters has, and a bucket whose log is not read."""
    kept = LakeSplit(None, 0, "iceberg", 42, (file("a", 10),))
    whole = LakeSplit(None, 0, "iceberg", 42, (file("a", 10), file("b", 10)))
    picture = plan_picture(plan_of(kept), plan_of(whole, LogSplit(None, 1, 0, 7)))
    styles = [[box.style for box in lane.boxes] for lane in picture.lanes]
    assert styles == [["plan-cold", "plan-pruned"], ["plan-pruned"]]
    assert "2 parts are left out" in picture.summary


def test_a_plan_of_many_buckets_and_files_is_drawn_in_part() -> None:
    """… and says how many are not drawn."""
    files = tuple(file(str(n), 1) for n in range(100))
    picture = plan_picture(
        plan_of(LakeSplit(None, 0, "iceberg", 42, files), *(StateSplit(None, n, offsets=5) for n in range(1, 50))), None
    )
    assert len(picture.lanes) + picture.more_lanes == 50
    assert len(picture.lanes[0].boxes) + picture.lanes[0].more == 100
    assert all(box.x + box.width <= WIDTH + 0.1 for lane in picture.lanes for box in lane.boxes)


def test_facts_say_it_in_numbers() -> None:
    """What was read out of what there is."""
    facts = dict(plan_picture(plan_of(LogSplit(None, 1, 0, 7)), None).facts)
    assert facts["From the lake"].startswith("1 of 2 files, 10 rows")
    assert facts["From the log"].startswith("7 offsets")
    assert plan_picture(plan_of(), None).lanes == []
