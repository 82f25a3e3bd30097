"""Which store a URL names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.remote.open_store import check_store, open_store
from lakeward.remote.s3.s3_store import S3Store
from lakeward.remote.stores.directory_store import DirectoryStore

_KEYS = {"s3.access-key": "a", "s3.secret-key": "b"}


@pytest.mark.parametrize("url", ["s3://shop/a/b", "s3a://shop/a/b/", "s3://shop", "s3n://shop/"])
def test_buckets(url: str) -> None:
    """The prefix is what follows the bucket; clients are told the URL without a slash at its end."""
    store = open_store(url, _KEYS)
    assert isinstance(store, S3Store)
    assert (store.bucket, store.prefix) == ("shop", "a/b" if "a/b" in url else "")
    assert store.url == url.rstrip("/")


async def test_directories(tmp_path: Path) -> None:
    """With a scheme and without; blanks may be written as URLs write them."""
    for url, place in (
        (str(tmp_path / "plain"), tmp_path / "plain"),
        (f"file://{tmp_path}/with%20scheme", tmp_path / "with scheme"),
        (f"{tmp_path}/slash/", tmp_path / "slash"),
    ):
        store = open_store(url, {})
        assert isinstance(store, DirectoryStore)
        assert store.url == url.rstrip("/")
        await store.put("a/b", b"1")
        assert place.joinpath("a/b").read_bytes() == b"1"


def test_a_relative_directory_is_told_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients have another working directory than the server."""
    monkeypatch.chdir(tmp_path)
    assert open_store("history", {}).url == str(tmp_path / "history")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("hdfs://x/y", "'hdfs://x/y' is no remote storage we can use; write a directory, file://, s3:// or s3a://."),
        ("s3:///no-bucket", "'s3:///no-bucket' names no bucket; write s3://bucket/prefix."),
    ],
)
def test_what_we_cannot_use_is_said(url: str, sentence: str) -> None:
    """Before anything is opened."""
    with pytest.raises(LakewardError) as caught:
        open_store(url, {})
    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_CONFIG, sentence)


async def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    """It writes, reads and deletes; the directory may be new."""
    store = open_store(str(tmp_path / "new" / "place"), {})
    await check_store(store)
    assert [found async for found in store.list()] == []
    assert not list(tmp_path.rglob("*.part"))  # noqa: ASYNC240


async def test_a_check_says_what_is_wrong(tmp_path: Path) -> None:
    """One sentence, with the store's name."""
    (tmp_path / "file").write_text("")
    with pytest.raises(LakewardError) as caught:
        await check_store(open_store(f"{tmp_path}/file", {}))
    assert caught.value.message == f"The remote storage {tmp_path}/file cannot be used: not a directory."
