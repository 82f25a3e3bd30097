"""ServerOptions: what a server was started with, checked, and where each setting came from."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from lakeward.errors import ErrorCode
from lakeward.options.authentication import check_authentication
from lakeward.options.authorization import check_authorizer, check_security
from lakeward.options.endpoint import Endpoint
from lakeward.options.metrics import check_reporters
from lakeward.options.option import Option
from lakeward.options.remote_store import S3_ACCESS_KEY, S3_ENDPOINT, S3_SECRET_KEY, S3_STS_ENDPOINT
from lakeward.options.secrets import has_user_info
from lakeward.options.server import (
    ADVERTISED_LISTENERS,
    BIND_LISTENERS,
    DATA_DIR,
    REMOTE_DATA_DIR,
    SERVER_OPTIONS,
)
from lakeward.options.table import TABLE_OPTIONS

T = TypeVar("T")
#: URLs that appear in messages, errors and logs.
_PLACES = (REMOTE_DATA_DIR, DATA_DIR, S3_ENDPOINT, S3_STS_ENDPOINT)
_REMOTE_DATA_DIRS = "remote.data.dirs"


class Source(enum.StrEnum):
    """Where a setting came from, weakest first."""

    FILE = "file"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True)
class ServerOptions:
    """The settings of a server. `texts` holds what was set, under canonical names; everything else is a default."""

    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sources: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(
        cls,
        file: Mapping[str, Any] | None = None,
        pairs: Iterable[str | tuple[str, str]] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> ServerOptions:
        """From a YAML mapping, the settings of FLUSS_PROPERTIES, and `key=value` pairs; each wins over those before.

        Unknown keys and unreadable values are refused.
        """
        texts: dict[str, str] = {}
        sources: dict[str, Source] = {}
        layers = (
            (Source.FILE, _flatten(file or {})),
            (Source.ENVIRONMENT, environment),
            (Source.COMMAND_LINE, _split_pairs(pairs)),
        )
        for source, settings in layers:
            for key, value in settings.items():
                canonical, text = SERVER_OPTIONS.canonical(key, value)
                texts[canonical] = text
                sources[canonical] = source
        _check(texts)
        _check_remote_place(texts)
        options = cls(MappingProxyType(texts), MappingProxyType(sources))
        check_authentication(texts, options.advertised_listeners().values())
        return options

    def get(self, option: Option[T]) -> T:
        """The value of an option, or its default."""
        return option.read(self.texts)

    def data_dir(self) -> Path:
        """The directory that holds metadata and logs."""
        return Path(self.get(DATA_DIR))

    def remote_data_dir(self) -> str:
        """Where closed segments and snapshots are copied to."""
        return self.get(REMOTE_DATA_DIR) or str(self.data_dir().absolute() / "remote")

    def advertised_listeners(self) -> dict[str, Endpoint]:
        """Listener name to the address clients are told."""
        bound = {e.name: e for e in self.get(BIND_LISTENERS)}
        for endpoint in self.get(ADVERTISED_LISTENERS) or ():
            if endpoint.name not in bound:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"'{ADVERTISED_LISTENERS.key}' names '{endpoint.name}', which is not in '{BIND_LISTENERS.key}'."
                )
            bound[endpoint.name] = endpoint
        return bound


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    out: dict[str, str] = {}
    for key, value in settings.items():
        name = f"{prefix}{key}"
        match value:
            case Mapping():
                out |= _flatten(value, f"{name}.")
            case bool():
                out[name] = str(value).lower()
            case list() | tuple():
                out[name] = ",".join(map(str, value))
            case None:
                pass
            case _:
                out[name] = str(value)
    return out


def _split_pairs(pairs: Iterable[str | tuple[str, str]]) -> dict[str, str]:
    out: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=") if isinstance(pair, str) else (pair[0], "=", pair[1])
        if not equals or not key.strip():
            raise ErrorCode.INVALID_CONFIG.error(f"'{pair}' is not a setting; write key=value.")
        out[key.strip()] = value.strip()
    return out


def _check_remote_place(settings: Mapping[str, str]) -> None:
    """Several remote directories, of which this server has one: nobody shall believe in copies that are not made."""
    if _REMOTE_DATA_DIRS in settings and REMOTE_DATA_DIR.key not in settings:
        raise ErrorCode.INVALID_CONFIG.error(
            f"'{_REMOTE_DATA_DIRS}' is set, but this server copies to one directory, '{REMOTE_DATA_DIR.key}', which is"
            f" not: nothing would be copied. Set '{REMOTE_DATA_DIR.key}' to one of them."
        )


def _check(settings: Mapping[str, str]) -> None:
    check_security(settings)
    check_authorizer(settings)
    for option in _PLACES:
        if has_user_info(settings.get(option.key, "")):
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{option.key}' holds a user or a password, which would be told to clients and logs. Write it without;"
                f" keys belong into '{S3_ACCESS_KEY.key}' and '{S3_SECRET_KEY.key}', or into the environment."
            )
    for key in settings:
        if key in SERVER_OPTIONS.rows or SERVER_OPTIONS.is_open(key):
            continue
        if key in TABLE_OPTIONS.rows or key in TABLE_OPTIONS.aliases:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{key}' is a property of tables, not of the server; set it on a table."
            )
    SERVER_OPTIONS.check(settings)
    check_reporters(settings)
