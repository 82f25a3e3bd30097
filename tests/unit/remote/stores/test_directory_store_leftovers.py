"""What a crash leaves of a write to a directory."""

from __future__ import annotations

from pathlib import Path

from lakeward.remote.stores.directory_store import DirectoryStore


async def test_tidying_removes_halves_and_nothing_else(tmp_path: Path) -> None:
    """Files that are whole stay, wherever they are; directories that become empty go."""
    store = DirectoryStore(str(tmp_path), tmp_path)
    await store.put("a/whole", b"1")
    await store.put("b/other", b"2")
    for name in ("a/.whole.123.part", "a/deep/.x.456.part", "b/.other.789.part"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    await store.tidy("a")
    await store.tidy("nothing/here")
    assert _files(tmp_path) == ["a/whole", "b/.other.789.part", "b/other"]
    assert not (tmp_path / "a" / "deep").exists()


def _files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
