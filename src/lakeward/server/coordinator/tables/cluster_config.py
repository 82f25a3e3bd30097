"""Cluster options: what the server was started with, and what was changed while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.authorization import check_security, is_of_security
from lakeward.options.kinds import LIST, MAP
from lakeward.options.secrets import HIDDEN, may_be_told, without_passwords
from lakeward.options.server import (
    DISK_WRITE_LIMIT,
    DISK_WRITE_RECOVER,
    DYNAMIC_KEYS,
    DYNAMIC_PREFIXES,
    SERVER_OPTIONS,
)
from lakeward.options.server_options import ServerOptions
from lakeward.server.catalog.lake_settings import PREFIX as LAKE_PREFIX
from lakeward.server.catalog.lake_settings import check_lake_settings
from lakeward.server.coordinator.tables.alteration import Alteration, AlterOp
from lakeward.server.metadata_store.port import MetadataStore

_log = logging.getLogger(__name__)
#: An option that was set to nothing: as if the server had been started without it, which DELETE would not undo.
_NOTHING = ""


@dataclass(frozen=True, slots=True)
class DescribedConfig:
    """A setting for people: secrets are hidden."""

    key: str
    value: str | None
    source: str


class ClusterConfig:
    """The options in force: changes made while running hide those of the start."""

    def __init__(self, store: MetadataStore, started_with: ServerOptions) -> None:
        self._store = store
        self._static = started_with
        stored = store.options()
        self._dynamic = {key: value for key, value in stored.items() if not is_of_security(key)}
        for key in stored.keys() - self._dynamic.keys():
            _log.error(
                "'%s' was set while an older release ran, which did not honour it, and nor does this one: the server is"
                " open to everybody who reaches its port. It is left out from the next change of options on",
                key,
            )
        self._current = self._options_with(self._dynamic)
        self._listeners: list[Callable[[], None]] = []

    @property
    def started_with(self) -> ServerOptions:
        """The options that the server was started with."""
        return self._static

    @property
    def current(self) -> ServerOptions:
        """The options in force now."""
        return self._current

    def on_change(self, callback: Callable[[], None]) -> None:
        """Hear of every change from now on."""
        self._listeners.append(callback)

    def describe(self) -> list[DescribedConfig]:
        """Every setting that is not a default, and where it came from."""
        described = {key: (text, "INITIAL_SERVER_CONFIG") for key, text in self._static.texts.items()}
        described |= {key: (text, "DYNAMIC_SERVER_CONFIG") for key, text in self._dynamic.items()}
        return [DescribedConfig(key, _mask(key, text), source) for key, (text, source) in sorted(described.items())]

    def alter(self, alterations: Iterable[Alteration]) -> None:
        """Apply all changes, or none; CONFIG says what is wrong."""
        wanted = dict(self._dynamic)
        for alteration in alterations:
            self._apply(alteration, wanted)
        if wanted == self._dynamic:
            return
        current = self._options_with(wanted)
        changed = {key for key, _ in wanted.items() ^ self._dynamic.items()}
        if any(key.startswith(LAKE_PREFIX) for key in changed):
            check_lake_settings(current)
        if changed & {DISK_WRITE_LIMIT.key, DISK_WRITE_RECOVER.key}:
            _check_disk_limits(current)
        with self._store.change() as change:
            for key in self._store.options().keys() - wanted.keys():
                change.delete_option(key)
            for key, value in wanted.items():
                change.put_option(key, value)
        self._obey(wanted, current)

    def learn(self, dynamic: dict[str, str]) -> None:
        """What another server of the cluster says was changed while it runs."""
        if dynamic != self._dynamic:
            self._obey(dynamic, self._options_with(dynamic))

    def _obey(self, dynamic: dict[str, str], current: ServerOptions) -> None:
        self._dynamic, self._current = dynamic, current
        for listener in self._listeners:
            listener()

    def _apply(self, alteration: Alteration, wanted: dict[str, str]) -> None:
        key = SERVER_OPTIONS.canonical_key(alteration.key)
        if alteration.op != AlterOp.DELETE:
            _check_security(key, alteration.value or "")
        if key not in DYNAMIC_KEYS and not key.startswith(DYNAMIC_PREFIXES):
            hint = "" if key in SERVER_OPTIONS.rows else SERVER_OPTIONS.nearest(key)
            raise ErrorCode.CONFIG.error(f"The config key {key[:200]} is not allowed to be changed dynamically.{hint}")
        if alteration.op == AlterOp.DELETE:
            wanted.pop(key, None)
            return
        if alteration.value is None:
            if alteration.op != AlterOp.SET:
                raise ErrorCode.CONFIG.error(f"The option '{key}' is given no value.")
            wanted[key] = _NOTHING
            return
        value = SERVER_OPTIONS.canonical(alteration.key, alteration.value)[1]
        if alteration.op in {AlterOp.APPEND, AlterOp.SUBTRACT}:
            value = _combine(key, wanted.get(key, self._static.texts.get(key, "")), value, AlterOp(alteration.op))
        elif alteration.op != AlterOp.SET:
            raise ErrorCode.CONFIG.error(f"The operation {alteration.op} on option '{key}' is not known.")
        _check_value(key, value)
        wanted[key] = value

    def _options_with(self, dynamic: Mapping[str, str]) -> ServerOptions:
        texts = {key: text for key, text in {**self._static.texts, **dynamic}.items() if dynamic.get(key) != _NOTHING}
        return ServerOptions(MappingProxyType(texts), self._static.sources)


def _check_disk_limits(options: ServerOptions) -> None:
    limit, recover = options.get(DISK_WRITE_LIMIT), options.get(DISK_WRITE_RECOVER)
    if not 0 < recover < limit <= 1:
        raise ErrorCode.CONFIG.error(
            f"Invalid disk write-limit configuration: '{DISK_WRITE_RECOVER.key}' ({recover:g}) must be above 0 and"
            f" below '{DISK_WRITE_LIMIT.key}' ({limit:g}), which is at most 1."
        )


def _check_security(key: str, value: str) -> None:
    try:
        check_security({key: value})
    except LakewardError as wrong:
        raise ErrorCode.CONFIG.error(wrong.message) from wrong


def _check_value(key: str, value: str) -> None:
    option = SERVER_OPTIONS.rows.get(key)
    if option is None:
        return
    try:
        option.parse(value)
    except LakewardError as wrong:
        family = "Invalid disk write-limit configuration: " if option in (DISK_WRITE_LIMIT, DISK_WRITE_RECOVER) else ""
        raise ErrorCode.CONFIG.error(family + wrong.message) from wrong


def _combine(key: str, before: str, value: str, op: AlterOp) -> str:
    option = SERVER_OPTIONS.rows.get(key)
    if option is None or option.kind not in (LIST, MAP):
        raise ErrorCode.CONFIG.error(f"The option '{key}' is neither a list nor a map; it can only be set or deleted.")
    if option.kind is LIST or op is AlterOp.APPEND:
        _check_value(key, value)
    parsed: Any = option.parse(before)
    change: Any = option.parse(value) if option.kind is LIST or op is AlterOp.APPEND else _keys_of(value)
    if option.kind is LIST:
        kept = [item for item in parsed if item not in change]
        return LIST.show(tuple(kept if op is AlterOp.SUBTRACT else [*kept, *change]))
    if op is AlterOp.SUBTRACT:
        return MAP.show({k: v for k, v in parsed.items() if k not in change})
    return MAP.show({**parsed, **change})


def _keys_of(value: str) -> set[str]:
    return {pair.partition(":")[0].strip() for pair in value.split(",")}


def _mask(key: str, text: str) -> str | None:
    """A setting as everybody may see it: declared ones that are no secret, and of the others those on the list."""
    if text == _NOTHING:
        return None
    option = SERVER_OPTIONS.rows.get(key)
    if option is None:
        prefix = next((one for one in _lake_prefixes(key) if key.startswith(one)), "")
        return without_passwords(text) if may_be_told(key.removeprefix(prefix)) else HIDDEN
    return HIDDEN if option.secret else without_passwords(text)


def _lake_prefixes(key: str) -> list[str]:
    """`datalake.<format>.`, if a key begins so."""
    parts = key.split(".", 2)
    return [f"{LAKE_PREFIX}{parts[1]}."] if len(parts) == 3 and key.startswith(LAKE_PREFIX) else []
