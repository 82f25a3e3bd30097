"""open_store: the store that a URL names; check_store: may we read and write there?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.errors import ErrorCode, LakewardError
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.stores.directory_store import DirectoryStore
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.entropy import SystemEntropy

S3_SCHEMES = ("s3", "s3a", "s3n")


def open_store(url: str, settings: Mapping[str, str]) -> RemoteStore:
    """The store of a URL: file://, a plain directory, s3:// or s3a://. Nothing is read or written yet."""
    root = url.rstrip("/") or url
    parts = urlsplit(root)
    if parts.scheme in S3_SCHEMES:
        from lakeward.remote.s3.s3_store import S3Store

        if not parts.netloc:
            raise ErrorCode.INVALID_CONFIG.error(f"'{url}' names no bucket; write s3://bucket/prefix.")
        return S3Store(root, parts.netloc, parts.path.strip("/"), S3Settings.of(settings))
    if parts.scheme == "file":
        return DirectoryStore(root, Path(unquote(parts.path)))
    if "://" in root:
        raise ErrorCode.INVALID_CONFIG.error(
            f"'{url}' is no remote storage we can use; write a directory, file://, s3:// or s3a://."
        )
    place = Path(root).absolute()  # clients have another working directory
    return DirectoryStore(str(place), place)


async def check_store(store: RemoteStore) -> None:
    """Write, read and delete a small file; what is wrong is said in one sentence.

    DeniedError and NotFoundError are mistakes to be corrected; a RetriableError may be over in a while.
    """
    path = f"lakeward/check/{SystemEntropy().uuid()}"
    content = b"Lakeward was here."
    try:
        await store.put(path, content)
        found = await store.get(path)
        await store.delete([path])
    except LakewardError as wrong:
        reason = wrong.message.partition(f"{path} cannot be ")[2].partition(": ")[2] or wrong.message
        raise type(wrong)(wrong.code, f"The remote storage {store.url} cannot be used: {reason}") from wrong
    if found != content:
        raise ErrorCode.STORAGE.error(f"The remote storage {store.url} gives back other bytes than it was given.")
