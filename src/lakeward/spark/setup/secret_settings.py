"""Settings that hold secrets: on no command line, and starred out wherever Spark writes settings down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeward.options.secrets import is_of_secret, is_reference
from lakeward.options.spark import is_secret
from lakeward.runtime.secret_text import SecretText

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENVIRONMENT = "${env:"


def open_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that may stand on a command line: no secrets, though where secrets are kept."""
    return {key: value for key, value in settings.items() if not _holds_secret(key, value)}


def add_settings(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Put settings into a session that runs, in their order.

    Every job has the settings of its session with it, and they go into Spark's event log: secrets as they are, but for
    those that the context has as well.
    """
    for key, value in settings.items():
        if _holds_secret(key, value):
            spark.sparkContext._jsc.sc().conf().set(key, value)
        spark.conf.set(key, value)


def options_for(master: str, options: Mapping[str, str]) -> dict[str, str]:
    """Options of the client as executors of a master can use them.

    On this machine every process inherits the environment. Executors elsewhere have another one, so the driver looks
    variables up, and the values travel inside of the tasks. A file is named for all machines alike.
    """
    if master.startswith("local"):
        return dict(options)
    return {
        key: SecretText(key, value).reveal() if value.startswith(_ENVIRONMENT) else value
        for key, value in options.items()
    }


def _holds_secret(key: str, value: str) -> bool:
    return (is_secret(key) or is_of_secret(key)) and not is_reference(value)
