"""Grants are in the metadata store before they count."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import CLUSTER, EVERYBODY, Acl, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.server.grants.acls.acl_book import AREA, AclBook
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore

READS = Acl(Resource.table("shop", "orders"), Principal('al"ice,\\ü'), Operation.READ)
EVERYTHING = Acl(CLUSTER, EVERYBODY, Operation.ALL, "10.0.0.7")


def test_what_was_added_is_there_after_a_restart() -> None:
    """Names with whatever is in them, and hosts."""
    store = MemoryMetadataStore()
    AclBook(store).add([READS, EVERYTHING])
    assert set(AclBook(store).index) == {READS, EVERYTHING}


def test_what_was_removed_is_gone_after_a_restart() -> None:
    """What was not there is no obstacle."""
    store = MemoryMetadataStore()
    book = AclBook(store)
    book.add([READS, EVERYTHING])
    book.remove([EVERYTHING, EVERYTHING])
    book.remove([EVERYTHING])
    assert set(AclBook(store).index) == {READS} == set(book.index)


def test_an_entry_is_kept_once() -> None:
    """Granting what is granted changes nothing, and no decision is forgotten for it."""
    store = MemoryMetadataStore()
    book = AclBook(store)
    book.add([READS, READS])
    version = book.version
    book.add([READS])
    assert book.version == version
    assert len(list(store.documents(AREA))) == len(book.index) == 1


def test_more_than_the_limit_are_refused_and_nothing_is_kept() -> None:
    """All or none; what is there already takes no room."""
    book = AclBook(MemoryMetadataStore(), acls_max=2)
    book.add([READS])
    with pytest.raises(LakewardError, match=r"authorizer\.max-acls") as refused:
        book.add([EVERYTHING, Acl(CLUSTER, EVERYBODY, Operation.READ)])
    assert refused.value.code is ErrorCode.OPERATION_NOT_ATTEMPTED
    book.add([READS, EVERYTHING])
    assert len(book.index) == 2


def test_what_the_store_refuses_does_not_count() -> None:
    """A disk that is full grants nothing, and takes nothing back."""

    class FullStore(MemoryMetadataStore):
        """Takes no more."""

        is_full = False

        def change(self):  # type: ignore[no-untyped-def]
            """A change, or none."""
            if self.is_full:
                raise ErrorCode.STORAGE.error("no space left")
            return super().change()

    store = FullStore()
    book = AclBook(store)
    book.add([READS])
    store.is_full = True
    with pytest.raises(LakewardError):
        book.add([EVERYTHING])
    with pytest.raises(LakewardError):
        book.remove([READS])
    assert set(book.index) == {READS}
    assert book.version == 1
