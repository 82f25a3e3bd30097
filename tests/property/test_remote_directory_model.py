"""A directory as a store, beside a dictionary: the same calls, the same files."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from examples import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.errors import NotFoundError
from lakeward.remote.stores.directory_store import DirectoryStore

_NAMES = st.sampled_from(["a", "b", "log", "x-1", ".hidden"])
_FILES = st.lists(_NAMES, min_size=1, max_size=3).map(lambda parts: "/".join([*parts, "f"]))
_DIRECTORIES = st.lists(_NAMES, min_size=1, max_size=2).map("/".join)
_STEPS = st.one_of(
    st.tuples(st.just("put"), _FILES, st.binary(max_size=5)),
    st.tuples(st.just("create"), _FILES, st.binary(max_size=5)),
    st.tuples(st.just("delete"), _FILES, st.none()),
    st.tuples(st.just("delete_all"), _DIRECTORIES, st.none()),
)


@settings(max_examples=EXAMPLES)
@given(st.lists(_STEPS, max_size=12), _DIRECTORIES)
def test_a_directory_is_a_dictionary_of_files(steps: list[tuple[str, str, bytes]], listed: str) -> None:
    """After any calls the same files are there with the same bytes, in order, whole or below a directory."""
    with tempfile.TemporaryDirectory() as root:
        asyncio.run(_compare(DirectoryStore(root, Path(root)), steps, listed))


async def _compare(store: DirectoryStore, steps: list[tuple[str, str, bytes]], listed: str) -> None:
    model: dict[str, bytes] = {}
    for call, path, data in steps:
        if call == "put":
            await store.put(path, data)
            model[path] = data
        elif call == "create":
            assert await store.create(path, data) is (path not in model)
            model.setdefault(path, data)
        elif call == "delete":
            await store.delete([path])
            model.pop(path, None)
        else:
            await store.delete_all(path)
            model = {name: kept for name, kept in model.items() if not name.startswith(f"{path}/")}
    assert [found.path async for found in store.list()] == sorted(model)
    assert [found.path async for found in store.list(listed)] == sorted(
        name for name in model if name.startswith(f"{listed}/")
    )
    for name, data in model.items():
        assert await store.get(name) == data
        found = await store.head(name)
        assert found is not None
        assert found.size == len(data)
    try:
        await store.get("never/was")
    except NotFoundError:
        return
    raise AssertionError("a file that never was can be read")


async def test_files_come_and_go_side_by_side(tmp_path: Path) -> None:
    """A directory that empties while another writes into it is there for the other."""
    store = DirectoryStore(str(tmp_path), tmp_path)

    async def come_and_go(number: int) -> None:
        for turn in range(20):
            await store.put(f"a/b/{number}-{turn}", b".")
            await store.delete([f"a/b/{number}-{turn}"])

    await asyncio.gather(*(come_and_go(number) for number in range(4)))
    assert [found async for found in store.list()] == []
