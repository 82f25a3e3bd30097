"""What a checkpoint was begun with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_events import definition_of

from lakeward.capture.port import TableId
from lakeward.errors import LakewardError
from lakeward.pipelines.definition import End
from lakeward.pipelines.patterns import TablePattern
from lakeward.spark.pipelines.run.origin import check_origin


def test_another_source_does_not_go_on(tmp_path: Path) -> None:
    """The same one does, with the same mark; no secret is written down."""
    definition = definition_of("type: print")
    mark = check_origin(definition, str(tmp_path))
    assert check_origin(definition, str(tmp_path)) == mark
    other = replace(definition, source=End("postgres", {**definition.source.options, "hostname": "elsewhere"}))
    with pytest.raises(LakewardError, match="was begun with another source"):
        check_origin(other, str(tmp_path))
    assert "elsewhere" not in (tmp_path / "pipeline.json").read_text()
    (tmp_path / "new").mkdir()
    assert check_origin(definition, str(tmp_path / "new")) != mark


def test_a_table_that_was_followed_stays_named(tmp_path: Path) -> None:
    """Its changes would be lost meanwhile; more tables are welcome."""
    definition = definition_of("type: print")
    one, other = TableId("shop", "one"), TableId("shop", "other")
    both = replace(definition, tables=TablePattern.parse_list("shop.one, shop.other"))
    check_origin(replace(definition, tables=TablePattern.parse_list("shop.one")), str(tmp_path), [one])
    check_origin(both, str(tmp_path), [one, other])
    with pytest.raises(LakewardError, match=r"has followed table shop\.one, which is not named any more"):
        check_origin(replace(definition, tables=TablePattern.parse_list("shop.other")), str(tmp_path), [other])
    check_origin(both, str(tmp_path), [one, other])
