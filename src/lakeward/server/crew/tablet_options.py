"""What a tablet server is started with: the settings of the coordinator, with ports and files of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.options.authorization import AUDIT_DIR
from lakeward.options.endpoint import ENDPOINTS, PORT_MAX, Endpoint
from lakeward.options.metrics import PROMETHEUS_PORT
from lakeward.options.server import ADVERTISED_LISTENERS, BIND_LISTENERS
from lakeward.options.server_options import ServerOptions


def tablet_texts(options: ServerOptions, server_id: int, size: int, ports: Mapping[str, int]) -> dict[str, str]:
    """The settings of one of `size` tablet servers; `ports` are those that it had before, by listener."""
    bound = options.get(BIND_LISTENERS)
    step = len(bound) * (server_id + 1)
    texts = dict(options.texts)
    mine = tuple(replace(one, port=_port(one, step, size * len(bound), ports)) for one in bound)
    _check(bound, mine)
    texts[BIND_LISTENERS.key] = ENDPOINTS.show(mine)
    told = options.get(ADVERTISED_LISTENERS)
    if told:
        texts[ADVERTISED_LISTENERS.key] = ENDPOINTS.show(
            tuple(replace(one, port=one.port + step if one.port else 0) for one in told)
        )
    texts[AUDIT_DIR.key] = str(Path(options.get(AUDIT_DIR) or options.data_dir()) / f"tablet-{server_id}")
    if PROMETHEUS_PORT.key in texts:
        numbers = (int(one) + server_id + 1 for one in texts[PROMETHEUS_PORT.key].split("-"))
        texts[PROMETHEUS_PORT.key] = "-".join(map(str, numbers))
    return texts


def _port(listener: Endpoint, step: int, last: int, ports: Mapping[str, int]) -> int:
    """The coordinator's port and so many more: those of the first tablet server follow the coordinator's."""
    if not listener.port:
        return ports.get(listener.name, 0)
    if listener.port + last > PORT_MAX:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The tablet servers take the ports behind {listener.port}, and there is none above {PORT_MAX}. Choose a"
            " lower one with --port."
        )
    return listener.port + step


def _check(coordinators: tuple[Endpoint, ...], mine: tuple[Endpoint, ...]) -> None:
    taken = {one.port for one in coordinators if one.port}
    for one in mine:
        if one.port in taken:
            raise ErrorCode.INVALID_CONFIG.error(
                f"A tablet server would take port {one.port} for its listener {one.name}, which is one of the"
                f" coordinator's. Give the listeners of '{BIND_LISTENERS.key}' ports that follow each other."
            )
