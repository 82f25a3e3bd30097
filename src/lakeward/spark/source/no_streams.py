"""What a stream without the jar gets from a Spark that cannot run it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NoReturn

import pyspark
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from lakeward.errors import ErrorCode
from lakeward.spark.setup.jar import JAR
from lakeward.spark.table.one_sentence import one_sentence


def has_streams() -> bool:
    """Whether this Spark tells a Python data source where its stream stands; 4.1 does not."""
    return find_spec("pyspark.sql.streaming.datasource") is not None


class NoStreamReader(DataSourceStreamReader):
    """Refuses at the first question; a refusal to be made at all would be lost in Spark 4.1's own error."""

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """A query without a checkpoint asks this first."""
        _refuse()

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802 - as Spark 4.1 has it
        """A query with a checkpoint asks this first."""
        _refuse()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:  # noqa: ARG002
        """Or this, when its last batch was not finished."""
        _refuse()

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: ARG002
        """Never comes to that."""
        _refuse()


def _refuse() -> NoReturn:
    with one_sentence():
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"Spark {pyspark.__version__} cannot stream from a Python data source as 'fluss' needs it: add Lakeward's "
            f"jar (lakeward.spark.session does, or spark.jars={JAR}), or use Spark 4.3."
        )
    raise AssertionError
