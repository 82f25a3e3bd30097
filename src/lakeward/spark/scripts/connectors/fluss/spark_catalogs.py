"""A cluster as a catalog of the Spark session: one for each set of servers and client options."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from lakeward.options.spark import BOOTSTRAP_SERVERS
from lakeward.query.request.views import View, view_name
from lakeward.spark.scripts.connectors.fluss.fluss_options import FlussOptions
from lakeward.spark.setup.jar import CATALOG_CLASS
from lakeward.spark.setup.secret_settings import add_settings
from lakeward.spark.setup.spark_session import catalog_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CATALOGS = "spark.sql.catalog."
_NAME_DIGITS = 12


def spark_catalog(spark: SparkSession, options: FlussOptions) -> str:
    """The name of the catalog in which the session has this cluster; it is put there where it is not."""
    settings = dict(spark.conf.getAll)
    wanted = {BOOTSTRAP_SERVERS.key: options.bootstrap, **options.client}
    for key, value in settings.items():
        name = key.removeprefix(_CATALOGS)
        if key.startswith(_CATALOGS) and value == CATALOG_CLASS and _settings_of(settings, name) == wanted:
            return name
    # A hash of what may hold secrets tells nothing of them.
    name = f"lakeward_{sha256(repr(sorted(wanted.items())).encode()).hexdigest()[:_NAME_DIGITS]}"
    told = {f"{_CATALOGS}{name}.{key}": value for key, value in options.client.items()}
    # The class comes last: with it the catalog is there.
    add_settings(spark, {**told, **dict(reversed(catalog_settings(options.bootstrap, name).items()))})
    return name


def _settings_of(settings: dict[str, str], name: str) -> dict[str, str]:
    head = f"{_CATALOGS}{name}."
    return {key.removeprefix(head): value for key, value in settings.items() if key.startswith(head)}


def spark_name(spark: SparkSession, options: FlussOptions, view: View = View.ROWS) -> str:
    """A table, or a view of it, as Spark's SQL names it."""
    database = options.path.database
    table = view_name(options.path, view).removeprefix(f"{database}.")
    return ".".join(f"`{part}`" for part in (spark_catalog(spark, options), database, table))
