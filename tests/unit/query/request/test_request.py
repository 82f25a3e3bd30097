"""A request on its way to the tasks."""

from __future__ import annotations

import json

from lakeward.model.table import TablePath
from lakeward.query.plan.splits import LogSplit, StateSplit, split_of_json
from lakeward.query.request.filters import Compare
from lakeward.query.request.options import Deletes, StartupMode
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View


def test_a_request_crosses_as_json() -> None:
    """Everything but what belongs to the connection: secrets stay behind."""
    request = ReadRequest(
        TablePath("shop", "orders"),
        View.BINLOG,
        ("after",),
        (Compare("=", "_log_offset", 3),),
        10,
        {"scan.deletes": "ignore", "client.security.sasl.password": "hush"},
        4,
    )
    text = json.dumps(request.to_json())
    assert "hush" not in text
    again = ReadRequest.of_json(json.loads(text))
    assert again == ReadRequest(
        request.path, View.BINLOG, ("after",), request.filters, 10, {"scan.deletes": "ignore"}, 4
    )
    assert ReadRequest.of_json({"table": "t"}) == ReadRequest(TablePath("fluss", "t"))


def test_options_as_values() -> None:
    """Names in any case, aliases included."""
    settings = ReadRequest.of_name("t", options={"FAILONDATALOSS": "false", "startingOffsets": "latest"}).settings
    assert (settings.fail_on_data_loss, settings.mode, settings.deletes) == (False, StartupMode.LATEST, Deletes.FAIL)
    timed = {"scan.startup.mode": "timestamp", "scan.startup.timestamp": "1970-01-01T00:00:01Z"}
    assert ReadRequest.of_name("t", options=timed).settings.start_ms == 1000


def test_splits_cross_as_json() -> None:
    """Both kinds."""
    for split in (LogSplit("a", 1, 2, 3), LogSplit(None, 0, 0, 9), StateSplit("a", 1), StateSplit(None, 0, 5, 6, 7)):
        assert split_of_json(json.loads(json.dumps(split.to_json()))) == split
