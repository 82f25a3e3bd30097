"""What a snapshot's own properties say."""

from __future__ import annotations

from lakeward.lake.round_properties import (
    RoundProperties,
    is_tiering_round,
    offsets_in,
    offsets_path_in,
    tiering_epoch_in,
)
from lakeward.model.bucket import TableBucket

OFFSETS = {TableBucket(7, None, 0): 5}


def test_our_snapshot_tells_all() -> None:
    """Offsets, epoch, and the document that Apache Fluss would look for."""
    properties = RoundProperties(7, OFFSETS, 3, "/remote/x.offsets").to_properties()
    assert is_tiering_round(properties)
    assert offsets_in(properties) == OFFSETS
    assert tiering_epoch_in(properties) == 3
    assert offsets_path_in(properties) == properties["fluss-offsets"] == "/remote/x.offsets"


def test_a_snapshot_of_apache_fluss_names_its_document() -> None:
    """Its offsets are not in it."""
    properties = {"commit-user": "__fluss_lake_tiering", "fluss-offsets": "/remote/x.offsets"}
    assert is_tiering_round(properties)
    assert offsets_in(properties) is None
    assert tiering_epoch_in(properties) is None
    assert offsets_path_in(properties) == "/remote/x.offsets"


def test_a_round_without_a_document_names_none() -> None:
    """An empty path would mislead."""
    assert offsets_path_in(RoundProperties(7, OFFSETS, 3).to_properties()) is None


def test_anybody_elses_snapshot_is_no_round() -> None:
    """An outside append is looked through."""
    assert not is_tiering_round({"commit-user": "me"})
    assert not is_tiering_round({})
