"""A lake in a bucket, tried before the cluster is told of it."""

from __future__ import annotations

import pytest
from lake_tables import S3Warehouse
from seaweed import Bucket

from lakeward.errors import LakewardError
from lakeward.lake.files.s3_path import lake_path
from lakeward.lake.files.s3_properties import store_settings
from lakeward.lake.trial import try_lake


@pytest.mark.parametrize("lake_format", ["iceberg", "paimon"])
def test_a_bucket_is_tried_and_left_as_it_was(moto_s3: Bucket, lake_format: str) -> None:
    """One that can be written to is fine, and nothing stays in it; one that is not there is an error."""
    properties = S3Warehouse(moto_s3).properties
    try_lake(lake_format, properties)
    assert list(lake_path(properties["warehouse"], store_settings(properties)).rglob("*")) == []
    with pytest.raises(LakewardError, match="nobody-has-this"):
        try_lake(lake_format, {**properties, "warehouse": "s3://nobody-has-this/lake"})
