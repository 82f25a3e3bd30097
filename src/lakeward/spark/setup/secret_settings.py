"""Settings that hold secrets: Spark's JVM is told of them when it runs, since everybody can read how it was started."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.options.secrets import is_of_secret, is_reference
from lakeward.options.spark import is_secret
from lakeward.runtime.secret_text import SecretText

_ENVIRONMENT = "${env:"


def open_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that may stand on a command line: no secrets, though where secrets are kept."""
    return {key: value for key, value in settings.items() if is_reference(value) or not _is_of_secret(key)}


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


def _is_of_secret(key: str) -> bool:
    return is_secret(key) or is_of_secret(key)
