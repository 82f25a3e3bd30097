"""What we rely on in pyiceberg without its promise: there as we know it, listed in full, and named when it breaks."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.bucket_catalog import BucketCatalog
from lakeward.lake.iceberg.commit import file_changes
from lakeward.lake.iceberg.commit.compaction import CompactionSnapshot
from lakeward.lake.iceberg.commit.remembering_transaction import RememberingTransaction
from lakeward.lake.iceberg.commit.round_snapshot import RoundSnapshot
from lakeward.lake.iceberg.pyiceberg_names import RELIED_ON, ForeignName, what_broke

OUR_SUBCLASSES = [
    file_changes.FileChanges,
    file_changes.DeleteManifestWriter,
    RoundSnapshot,
    CompactionSnapshot,
    RememberingTransaction,
    BucketCatalog,
]


@pytest.fixture(autouse=True)
def fresh_format() -> None:
    """The door is opened again."""
    lake_format.cache_clear()


def owner_of(relied: ForeignName) -> Any:
    """The class or module that has the name."""
    module, _, name = relied.owner.rpartition(".")
    return getattr(import_module(module), name, None) or import_module(relied.owner)


def test_all_names_are_there_as_we_know_them() -> None:
    """If this fails after a new pyiceberg was installed: what it prints is what broke, and for what it is needed."""
    assert what_broke() == []


@pytest.mark.parametrize("kind", OUR_SUBCLASSES, ids=lambda kind: kind.__name__)
def test_every_private_name_that_our_subclasses_use_is_listed(kind: type) -> None:
    """Read from their sources: an underscore that is pyiceberg's and not ours."""
    theirs = [base for base in kind.__mro__ if base.__module__.startswith("pyiceberg.")]
    known = {name for base in theirs for name in (*vars(base), *inspect.get_annotations(base))}
    tree = ast.parse(inspect.getsource(kind))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    private = {name for name in used & known if name.startswith("_") and not name.startswith("__")}
    assert private <= {relied.name for relied in RELIED_ON}


def test_a_catalog_in_a_bucket_has_all_that_a_catalog_must_have() -> None:
    """A new abstract method of pyiceberg's would keep ours from being made."""
    assert not inspect.isabstract(BucketCatalog)


@pytest.mark.parametrize("relied", RELIED_ON, ids=lambda r: r.full_name)
def test_what_is_gone_is_named(relied: ForeignName, monkeypatch: pytest.MonkeyPatch) -> None:
    """With module, class, and what it is needed for."""
    owner = owner_of(relied)
    for base in getattr(owner, "__mro__", (owner,)):
        if relied.name in vars(base) and base is not object:
            monkeypatch.delattr(base, relied.name)
        if relied.name in inspect.get_annotations(base) if inspect.isclass(base) else False:
            monkeypatch.delitem(base.__annotations__, relied.name)
    broken = what_broke()
    assert [line for line in broken if line.startswith(f"{relied.full_name} ")], broken
    assert all(relied.name in line for line in broken)


def test_what_takes_something_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The door refuses it in one sentence: what is installed, what is known to work, what exactly broke."""

    def _summary(self: object, properties: dict[str, str], branch: str) -> None: ...

    monkeypatch.setattr(file_changes._FastAppendFiles, "_summary", _summary)
    with pytest.raises(
        LakewardError, match=r"known to work with pyiceberg>=0\.12,<0\.13, and 0\.12\.\d+ is"
    ) as refused:
        lake_format("iceberg")
    assert refused.value.code is ErrorCode.LAKE_STORAGE_NOT_CONFIGURED
    assert "_FastAppendFiles._summary takes (properties, branch) instead of (snapshot_properties)" in str(refused.value)
