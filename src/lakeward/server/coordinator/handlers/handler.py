"""What a handler is, and the small conversions all of them use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.server.coordinator.handlers.caller import Caller

#: From the decoded request and its caller to the response; LakewardError becomes an ERROR frame.
Handler = Callable[[Any, Caller], Any]
Handlers = dict[Api, Handler]


def path_of(path: PbTablePath) -> TablePath:
    """A table's name from the wire."""
    return TablePath(path.database_name, path.table_name)
