"""Writer ids are used by one writer at a time, and used again when that is safe."""

from __future__ import annotations

from typing import Any

from fake_cluster import PATH, FakeMetadata

from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.settings import ClientSettings
from lakeward.protocol.messages.log import InitWriterResponse
from lakeward.records.batch.batch_header import NO_WRITER


class Server:
    """Counts writer ids from 1."""

    def __init__(self, **settings: Any) -> None:
        self.settings = ClientSettings(**settings)
        self.metadata = FakeMetadata()
        self.given = 0

    async def ask_tablet(self, *_: Any) -> InitWriterResponse:
        """The next id."""
        self.given += 1
        return InitWriterResponse(writer_id=self.given)


async def test_two_writers_at_once_have_two_ids() -> None:
    """Sequences belong to one writer."""
    ids = WriterIds(Server())  # type: ignore[arg-type]
    assert [(await ids.borrow(PATH)).writer_id for _ in range(2)] == [1, 2]


async def test_an_id_given_back_is_lent_again() -> None:
    """The next writer need not ask the server."""
    ids = WriterIds(Server())  # type: ignore[arg-type]
    first = await ids.borrow(PATH)
    ids.give_back(first)
    assert await ids.borrow(PATH) is first


async def test_an_id_that_was_idle_too_long_is_forgotten() -> None:
    """The server may have forgotten it as well."""
    ids = WriterIds(Server())  # type: ignore[arg-type]
    first = await ids.borrow(PATH)
    ids.give_back(first)
    first.idle_since_s -= 7200
    assert (await ids.borrow(PATH)).writer_id == 2


async def test_without_idempotence_there_is_no_id() -> None:
    """Nothing is asked of the server."""
    server = Server(idempotent=False)
    ids = WriterIds(server)  # type: ignore[arg-type]
    identity = await ids.borrow(PATH)
    ids.give_back(identity)
    assert (identity.writer_id, server.given) == (NO_WRITER, 0)
