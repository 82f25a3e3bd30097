"""Options of a data source: by their own names, whatever Spark did to their case."""

from __future__ import annotations

import pytest

from lakeward.capture.databases import DatabaseKind
from lakeward.errors import LakewardError
from lakeward.spark.ingest.capture.capture_options import CaptureOptions

GIVEN = {"HostName": "db", "maxrowspertrigger": "500", "form": "envelopes", "checkpointLocation": "/c"}


def test_names_lose_their_case_and_find_it_again() -> None:
    """Spark's own are left out."""
    options = CaptureOptions.of(DatabaseKind.MYSQL, GIVEN)
    assert options.given == {"hostname": "db", "maxRowsPerTrigger": "500", "form": "envelopes"}
    assert (options.rows_max, options.is_of_envelopes, options.tasks) == (500, True, 4)


def test_what_is_wrong_is_one_sentence() -> None:
    """An unknown name, an unreadable value, two values; a secret is in none of them, nor in a repr."""
    for wrong, said in (
        ({"hostnam": "db"}, "'hostname'"),
        ({"port": "many"}, "port"),
        ({"Port": "1", "port": "2"}, "given twice"),
        ({"scan.startup.mode": "timestamp"}, "is not possible"),
    ):
        with pytest.raises(LakewardError, match=said):
            CaptureOptions.of(DatabaseKind.POSTGRES, {**GIVEN, **wrong})
    assert "hush" not in repr(CaptureOptions.of(DatabaseKind.POSTGRES, {"password": "hush"}))


def test_the_database_of_postgres_has_a_name_and_metadata_columns_a_key() -> None:
    """As rows show them."""
    given = {"database-name": "shop", "metadata": "t=table_name,d=database_name"}
    options = CaptureOptions.of(DatabaseKind.POSTGRES, given)
    assert options.database_name == "shop"
    assert options.metadata == {"t": "table_name", "d": "database_name"}
    assert CaptureOptions.of(DatabaseKind.MYSQL, {"database-name": "shop"}).database_name is None
