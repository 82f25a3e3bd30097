"""How a lake's bucket is reached, by everybody's names."""

from __future__ import annotations

import pytest

from lakeward.lake.files.s3_properties import iceberg_properties, store_settings


@pytest.mark.parametrize(
    ("access", "secret"),
    [
        ("s3.access-key", "s3.secret-key"),
        ("fs.s3a.access.key", "fs.s3a.secret.key"),
        ("s3.access-key-id", "s3.secret-access-key"),
    ],
)
def test_keys_have_several_names(access: str, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of remote storage, of Hadoop and of pyiceberg; pyiceberg gets its own."""
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    given = {"warehouse": "s3://bucket/lake", access: "who", secret: "hush", "s3.endpoint": "http://host:1"}
    told = {**given, **iceberg_properties(given)}
    assert told["s3.access-key-id"] == "who"
    assert told["s3.secret-access-key"] == "hush"
    assert told["s3.endpoint"] == "http://host:1"
    assert told["s3.force-virtual-addressing"] == "false"
    assert told["s3.region"] == "us-east-1"


def test_other_properties_stay_out_of_the_store() -> None:
    """A catalog's type and uri mean nothing to a bucket."""
    assert store_settings({"type": "rest", "uri": "http://c", "s3.region": "eu"}) == {"s3.region": "eu"}


def test_a_lake_that_is_not_in_s3_is_told_nothing_of_it() -> None:
    """A local warehouse, a catalog elsewhere."""
    assert iceberg_properties({"warehouse": "/lake", "type": "sql"}) == {}
