"""ZooKeeperSession: this server's name in a cluster's ZooKeeper, kept there through lost connections and sessions."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.endpoint import Endpoint
from lakeward.server.zookeeper import nodes

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_log = logging.getLogger(__name__)
_AGAIN_S = 1.0
_ATTEMPTS = 10
_ANSWER_S = 5.0
Addresses = dict[str, tuple[str, int]]


class ZooKeeperSettings(NamedTuple):
    """Where ZooKeeper is, and how patient this server is with it."""

    hosts: str
    root: str
    session_timeout_ms: int
    connect_timeout_ms: int


class _OnceEach(logging.Filter):
    """Of what is told again and again, as every attempt to connect is, the first; and no traces."""

    def __init__(self) -> None:
        super().__init__()
        self.told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        is_new = record.exc_info is None and record.msg not in self.told
        self.told.add(record.msg)
        return is_new


class ZooKeeperSession:
    """Registers, again after every session that was lost; hears where the coordinator is."""

    def __init__(self, settings: ZooKeeperSettings, on_coordinator: Callable[[Addresses | None], None]) -> None:
        """`on_coordinator` is told, on the loop, where the coordinator is whenever that changes; None while none is."""
        self._settings = settings
        self._on_coordinator = on_coordinator
        self._loop = asyncio.get_running_loop()
        self._told = _OnceEach()
        self._client = self._new_client()
        self._content: Callable[[], bytes] | None = None
        self._server_id = -1
        self._registering: asyncio.Task[None] | None = None
        self._is_closed = False

    def _new_client(self) -> KazooClient:
        try:
            from kazoo.client import KazooClient
        except ModuleNotFoundError as missing:
            raise ErrorCode.INVALID_CONFIG.error(
                "A tablet server of an Apache Fluss cluster needs kazoo: pip install 'lakeward[cluster]'."
            ) from missing
        settings, log = self._settings, logging.getLogger("lakeward.zookeeper")
        if not log.isEnabledFor(logging.DEBUG):
            log.addFilter(self._told)
        return KazooClient(
            hosts=settings.hosts,
            timeout=settings.session_timeout_ms / 1000,
            connection_retry={"max_tries": -1, "max_delay": 2.0},
            logger=log,
        )

    async def open(self) -> None:
        """Connect, and follow the coordinator; INVALID_CONFIG when ZooKeeper is not there, or another server is."""
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError

        settings = self._settings
        try:
            await self._beside(lambda: self._client.start(timeout=settings.connect_timeout_ms / 1000))
            self._client.add_listener(self._hear_state)
            await self._beside(self._watch_coordinator)
        except KazooTimeoutError as late:
            raise ErrorCode.INVALID_CONFIG.error(
                f"ZooKeeper at {settings.hosts} was not reached within {settings.connect_timeout_ms} ms. Does it run "
                "there? --zookeeper names it; the addresses of Fluss's own servers are others."
            ) from late
        except (KazooException, RuntimeError, struct.error) as wrong:  # kazoo's words for an answer that is none
            raise ErrorCode.INVALID_CONFIG.error(
                f"What listens at {settings.hosts} does not answer as ZooKeeper does ({wrong}). --zookeeper wants "
                "ZooKeeper's address, not that of a server of Fluss."
            ) from wrong

    async def cluster_mark(self) -> str:
        """What tells this cluster from any other: when the node below which its servers register was made."""
        from kazoo.exceptions import KazooException

        path = self._settings.root + nodes.SERVERS

        def ask() -> str:
            self._client.ensure_path(path)
            stat = self._client.get(path)[1]
            return f"{stat.czxid:x}-{stat.ctime:x}"

        try:
            mark: str = await self._beside(ask)
        except KazooException as wrong:
            raise ErrorCode.INVALID_CONFIG.error(
                f"ZooKeeper at {self._settings.hosts} did not say what is at {path}: {wrong!r}."
            ) from wrong
        return mark

    def _watch_coordinator(self) -> None:
        def tell(content: bytes | None, _: object) -> None:
            self._loop.call_soon_threadsafe(self._tell_coordinator, content)

        self._client.DataWatch(self._settings.root + nodes.COORDINATOR, tell)

    def _tell_coordinator(self, content: bytes | None) -> None:
        if self._is_closed:
            return
        if content is None:
            settings = self._settings
            _log.warning(
                "there is no coordinator below %s in the ZooKeeper at %s; waiting for one. If the cluster has one, it "
                "is below another node: --zookeeper-root",
                settings.root or "/",
                settings.hosts,
            )
        try:
            self._on_coordinator(None if content is None else nodes.addresses(content, nodes.COORDINATOR))
        except LakewardError as wrong:
            _log.error("%s", wrong)

    # -- registered

    async def register(self, server_id: int, listeners: list[Endpoint], now_ms: Callable[[], int]) -> None:
        """Be a tablet server of the cluster from now on; waits while another one, or an earlier life, has the id."""
        self._server_id = server_id
        self._content = lambda: nodes.registration(listeners, now_ms(), None)
        await self._register()

    async def _register(self) -> None:
        from kazoo.exceptions import KazooException, NodeExistsError

        path = self._settings.root + nodes.server_path(self._server_id)
        is_told = False
        while not self._is_closed and self._content is not None:
            create = partial(self._client.create, path, self._content(), ephemeral=True, makepath=True)
            try:
                await self._beside(create)
            except NodeExistsError:
                holder = await self._holder(path)
                if holder is None:
                    return
                if not is_told:
                    _log.warning(
                        "tablet server %d is still registered at %s, by %s; waiting until it is gone. If that is "
                        "another server, this one needs a number of its own: --id",
                        self._server_id,
                        path,
                        holder,
                    )
                is_told = True
            except KazooException as wrong:
                _log.warning("tablet server %d is not registered yet: %r", self._server_id, wrong)
            else:
                _log.info("registered as tablet server %d at %s", self._server_id, path)
                return
            await asyncio.sleep(_AGAIN_S)

    async def _holder(self, path: str) -> str | None:
        """Who has made the node that is there; None when this session did, in a creation that was answered too late."""
        from kazoo.exceptions import KazooException

        try:
            content, stat = await self._beside(lambda: self._client.get(path))
            client_id = self._client.client_id
            if client_id is not None and stat.ephemeralOwner == client_id[0]:
                return None
            return ", ".join(f"{host}:{port}" for host, port in nodes.addresses(content, path).values())
        except (KazooException, LakewardError):
            return "whoever it is"

    def _hear_state(self, state: str) -> None:
        """On a thread of kazoo's: a session was lost or found."""
        self._loop.call_soon_threadsafe(self._meet_state, state)

    def _meet_state(self, state: str) -> None:
        if self._is_closed:
            return
        _log.info("ZooKeeper: %s", state)
        is_idle = self._registering is None or self._registering.done()
        if state == "CONNECTED":
            self._told.told.clear()
        # After a session was lost the node is gone; after a connection was, it is still there, and ours.
        if state == "CONNECTED" and self._content is not None and is_idle:
            self._registering = self._loop.create_task(self._register())

    # -- counters

    async def take_number(self, path: str, count: int = 1) -> int:
        """The first of some numbers of a counter, which nobody else gets."""
        number: int = await self._beside(lambda: self.take_number_now(path, count))
        return number

    def take_number_now(self, path: str, count: int) -> int:
        """The same, waited for on this thread."""
        from kazoo.exceptions import BadVersionError, KazooException, NodeExistsError, NoNodeError

        path = self._settings.root + path
        for _ in range(_ATTEMPTS):
            try:
                content, stat = self._client.get(path)
                value = nodes.counter_value(content)
                self._client.set(path, nodes.counter_node(value + count), version=stat.version)
            except NoNodeError:
                try:
                    self._client.create(path, nodes.counter_node(count), makepath=True)
                except NodeExistsError:
                    continue
                return 0
            except BadVersionError:
                continue
            except KazooException as wrong:
                raise ErrorCode.NETWORK.error(f"ZooKeeper gave no number of {path}: {wrong!r}.") from wrong
            return value
        raise ErrorCode.NETWORK.error(f"ZooKeeper gave no number of {path}: too many ask at the same time.")

    # -- what others have written

    async def read(self, path: str) -> bytes | None:
        """What a node holds; None where there is none. NETWORK when ZooKeeper does not answer."""
        from kazoo.exceptions import NoNodeError

        whole = self._settings.root + path
        try:
            content: bytes = (await self._ask(lambda: self._client.get_async(whole), path))[0]
        except NoNodeError:
            return None
        return content

    async def children(self, path: str) -> list[str]:
        """The names below a node; none where it is not there. NETWORK when ZooKeeper does not answer."""
        from kazoo.exceptions import NoNodeError

        whole = self._settings.root + path
        try:
            names: list[str] = await self._ask(lambda: self._client.get_children_async(whole), path)
        except NoNodeError:
            return []
        return names

    async def _ask(self, question: Callable[[], Any], path: str) -> Any:
        from kazoo.exceptions import KazooException, NoNodeError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            return await self._beside(lambda: question().get(timeout=_ANSWER_S))
        except NoNodeError:
            raise
        except (KazooException, KazooTimeoutError) as wrong:
            raise ErrorCode.NETWORK.error(f"ZooKeeper did not say what is at {path}: {wrong!r}.") from wrong

    # -- ending

    async def close(self) -> None:
        """Leave: the registration goes with the session."""
        self._is_closed = True
        if self._registering is not None:
            self._registering.cancel()
        await self._beside(self._client.stop)
        await self._beside(self._client.close)

    def _beside(self, work: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
        async def run() -> Any:
            return await self._loop.run_in_executor(None, work)

        return run()
