"""A server with strangers before it, and somebody who is in."""

from __future__ import annotations

from pathlib import Path

from logins import JAAS, log_in
from rights_cases import TableIds
from server_process import ServerProcess
from strangers import Address
from wire_client import WireClient, WireCluster
from wire_tables import WireTable, create_database

from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.model.acl import CLUSTER, Acl, Operation
from lakeward.model.principal import Principal
from lakeward.protocol.acl_forms import acl_message
from lakeward.protocol.api import Api
from lakeward.protocol.messages.acl import CreateAclsRequest
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.runtime.clock import SystemClock

LOGIN_S = 2
_MB = 1 << 20


class Besieged:
    """It asks for a login at one door, encrypts at another, and checks grants; `ping` is what somebody within does."""

    def __init__(self, directory: Path) -> None:
        authority = DevAuthority(directory / "certs", SystemClock(), days=2)
        authority.server(("localhost", "127.0.0.1"))
        self.server = ServerProcess(
            directory / "data",
            bind__listeners="FLUSS://localhost:0,CLIENT://localhost:0,SAFE://localhost:0",
            security__protocol__map="CLIENT:SASL,SAFE:SASL_SSL",
            security__tls__certificate_file=str(authority.path("server")),
            security__tls__key_file=str(authority.path("server", "key")),
            security__sasl__plain__jaas__config=JAAS,
            security__login__timeout=f"{LOGIN_S}s",
            authorizer__enabled="true",
            super__users="User:admin",
            audit__max_file_size="1mb",
            audit__max_files="2",
        ).start()
        self.door, self.safe_door = (Address.of(self.server.listeners[name]) for name in ("CLIENT", "SAFE"))
        self._bystander = self.come_in()
        self.ids = self._fill()

    def come_in(self) -> WireClient:
        """Somebody with a right password."""
        client = WireClient.of(self.server.listeners["CLIENT"])
        log_in(client, "admin", "admin-secret")
        return client

    def _fill(self) -> TableIds:
        """Tables to be named by requests, and somebody who may do everything to them."""
        cluster = WireCluster(self._bystander, self._bystander)
        create_database(cluster, "shop")
        orders = WireTable.create(cluster, "shop", "orders")
        prices = WireTable.create(cluster, "shop", "prices", primary_key=("id",))
        everything = acl_message(Acl(CLUSTER, Principal("alice"), Operation.ALL))
        self._bystander.call(Api.CREATE_ACLS, CreateAclsRequest(acl=(everything,)))
        return TableIds(orders.table_id, prices.table_id)

    def ping(self) -> None:
        """Ask for something, and wait for the answer."""
        self._bystander.call(Api.GET_METADATA, MetadataRequest())

    def is_well(self) -> bool:
        """Whether it has told of nothing that went wrong within it, nor much, nor what is secret."""
        said = self.server.log_text
        written = sum(file.stat().st_size for file in self.server.data_dir.glob("audit*"))
        return "Traceback" not in said and "-secret" not in said and len(said) < _MB and written < 4 * _MB

    def stop(self) -> int:
        """The end; its exit code."""
        self._bystander.close()
        return self.server.stop()
