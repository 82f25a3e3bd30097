"""Where the jar with the catalog and the readers is."""

from __future__ import annotations

from pathlib import Path

from lakeward.errors import ErrorCode

JAR = Path(__file__).parents[1] / "jvm" / "lakeward-spark.jar"
CATALOG_CLASS = "io.lakeward.spark.FlussCatalog"
EXTENSIONS_CLASS = "io.lakeward.spark.Extensions"


def jar_path() -> str:
    """The jar for `spark.jars`; it comes with the package."""
    if not JAR.exists():
        raise ErrorCode.INVALID_CONFIG.error(f"{JAR} is missing; in a checkout, `make shim` builds it.")
    return str(JAR)
