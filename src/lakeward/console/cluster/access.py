"""ClusterAccess: one principal's way to a cluster. The connection opens when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from lakeward.client.forms.settings import ClientSettings
from lakeward.client.tables.connection import AsyncConnection
from lakeward.console.cluster.reports import Reports
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.options import client as rows
from lakeward.options.secrets import is_reference
from lakeward.query.door import aconnect

#: A person waits, so give up sooner than a program would.
_PATIENCE = {rows.CONNECT_TIMEOUT.key: "5 s", rows.REQUEST_TIMEOUT.key: "20 s"}


class ClusterAccess:
    """A connection that is opened when it is needed and shared by all who act as the same principal."""

    def __init__(self, bootstrap: str, options: Mapping[str, str], lake: Mapping[str, str]) -> None:
        self.bootstrap = bootstrap
        self._options = {**_PATIENCE, **options}
        self._lake = dict(lake)
        self.reports = Reports(bootstrap, ClientSettings.of(self._options), self.connection)
        self._connection: AsyncConnection | None = None
        self._opening = asyncio.Lock()

    def of_user(self, user: str, password: str) -> ClusterAccess:
        """The same cluster as somebody who logs in. What they type is never taken for a place to look a secret up."""
        if is_reference(user) or is_reference(password):
            raise ErrorCode.AUTHENTICATE.error("Names and passwords that begin like a reference are not taken here.")
        login = {rows.SASL_USERNAME.key: user, rows.SASL_PASSWORD.key: password}
        return ClusterAccess(self.bootstrap, {**self._options, **login}, self._lake)

    @property
    def user(self) -> str | None:
        """Who this is to the cluster; None for nobody in particular."""
        return self._options.get(rows.SASL_USERNAME.key)

    async def connection(self) -> AsyncConnection:
        """The connection; NETWORK if the cluster does not answer, AUTHENTICATE if it wants to know who this is."""
        async with self._opening:
            if self._connection is None:
                self._connection = await aconnect(self.bootstrap, lake=self._lake, **self._options)
            return self._connection

    async def asks_login(self) -> bool:
        """Whether the cluster wants a login that this access does not have."""
        if self._connection is not None or self.user is not None:
            return False
        try:
            await self.connection()
        except DeniedError:
            return True
        except LakewardError:
            return False
        return False

    async def close(self) -> None:
        """Close the connection, if it is open."""
        async with self._opening:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None
