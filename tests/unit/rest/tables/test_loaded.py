"""A table as it is answered."""

from __future__ import annotations

import json

from lakeward.rest.tables.loaded import Loaded

METADATA = {
    "current-snapshot-id": 3,
    "snapshots": [{"snapshot-id": 1}, {"snapshot-id": 2}, {"snapshot-id": 3}],
    "refs": {"main": {"snapshot-id": 3, "type": "branch"}, "kept": {"snapshot-id": 1, "type": "tag"}},
}
LOADED = Loaded('s3://b/"t".json', json.dumps(METADATA), {"s3.region": "r"}, ({"prefix": "s3://b/", "config": {}},))


def test_an_answer_has_the_metadata_as_it_is() -> None:
    """Where it lies, how its files are reached, and with which keys."""
    told = json.loads(LOADED.body("all"))
    assert told == {
        "metadata-location": 's3://b/"t".json',
        "metadata": METADATA,
        "config": {"s3.region": "r"},
        "storage-credentials": [{"prefix": "s3://b/", "config": {}}],
    }


def test_refs_are_snapshots_with_a_name() -> None:
    """The others are left out, for readers that load them later."""
    told = json.loads(LOADED.body("refs"))["metadata"]["snapshots"]
    assert [one["snapshot-id"] for one in told] == [1, 3]


def test_an_etag_is_another_for_another_answer() -> None:
    """Another metadata file, other snapshots, other keys."""
    others = [Loaded("other", "{}"), Loaded(LOADED.metadata_location, "{}", {"s3.access-key-id": "k"})]
    tags = [LOADED.etag("all"), LOADED.etag("refs"), *(one.etag("all") for one in others)]
    assert len(set(tags)) == len(tags)
    assert LOADED.etag("all") == LOADED.etag("all")
