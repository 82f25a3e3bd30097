"""Stores of remote files: how fast a library puts and gets, what it weighs; the baseline of what copies over them."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.remote.place import Place
from bench.report import Line
from lakeward.remote.open_store import open_store

_FILES, _FILE_BYTES = 4, 64 << 20
_SMALL_FILES, _SMALL_BYTES = 200, 4 << 10
_ROUNDS = 3
_Measure = Callable[[Place, list[Path]], Coroutine[Any, Any, tuple[float, float]]]


def lines(places: Iterable[Place]) -> list[Line]:
    """Our port beside the library alone, on every place."""
    out = []
    with _files(_FILES, _FILE_BYTES) as large, _files(_SMALL_FILES, _SMALL_BYTES) as small:
        for place in places:
            for what, sources, size in (("64 MB", large, _FILE_BYTES), ("4 kB", small, _SMALL_BYTES)):
                ours = _best(_port_rates, place, sources)
                alone = _best(_obstore_rates, place, sources)
                for verb, a, b in zip(("put", "get"), ours, alone, strict=True):
                    is_promised = verb == "put" and size == _FILE_BYTES
                    work = f"{verb} files of {what}, {place.name}, two at a time; beside it obstore alone"
                    promise = "≥ 0.5 ×" if is_promised else "–"
                    out.append(Line(work, _rate(a, size), _rate(b, size), promise, a / b if is_promised else None, 0.5))
    return out


def put_rate(place: Place, sources: list[Path]) -> float:
    """Bytes a second by which obstore alone puts these files: the store's own rate."""
    size = sum(source.stat().st_size for source in sources)
    return _best(_obstore_rates, place, sources)[0] * size / len(sources)


def _rate(files_per_second: float, size: int) -> str:
    return f"{files_per_second * size / 1e6:.0f} MB/s" if size == _FILE_BYTES else f"{files_per_second:.0f} files/s"


def _best(measure: _Measure, place: Place, sources: list[Path]) -> tuple[float, float]:
    """The better of some rounds, since whatever else the machine does only slows."""
    rounds = [asyncio.run(measure(place, sources)) for _ in range(_ROUNDS)]
    return max(r[0] for r in rounds), max(r[1] for r in rounds)


async def _timed(count: int, work: Iterable[Callable[[], Awaitable[Any]]]) -> float:
    """Calls a second, two at a time."""
    slots = asyncio.Semaphore(2)

    async def one(call: Callable[[], Awaitable[Any]]) -> None:
        async with slots:
            await call()

    begun = time.perf_counter()
    await asyncio.gather(*(one(call) for call in work))
    return count / (time.perf_counter() - begun)


async def _port_rates(place: Place, sources: list[Path]) -> tuple[float, float]:
    store = open_store(place.url, place.settings)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch)
        puts = [lambda s=s: store.put_file(f"bench/{s.name}", s) for s in sources]  # type: ignore[misc]
        gets = [lambda s=s: store.get_file(f"bench/{s.name}", target / s.name) for s in sources]  # type: ignore[misc]
        rates = await _timed(len(sources), puts), await _timed(len(sources), gets)
    await store.delete_all("bench")
    await store.close()
    return rates


async def _obstore_rates(place: Place, sources: list[Path]) -> tuple[float, float]:
    import obstore

    store = place.obstore()

    async def get(name: str) -> None:
        await (await obstore.get_async(store, name)).bytes_async()

    puts = [lambda s=s: obstore.put_async(store, f"bench/{s.name}", s) for s in sources]  # type: ignore[misc]
    put_rate = await _timed(len(sources), puts)
    get_rate = await _timed(len(sources), [lambda s=s: get(f"bench/{s.name}") for s in sources])  # type: ignore[misc]
    await obstore.delete_async(store, [f"bench/{s.name}" for s in sources])
    return put_rate, get_rate


class _files:  # noqa: N801 - reads like open()
    """So many files of random bytes."""

    def __init__(self, count: int, size: int) -> None:
        self._count, self._size = count, size

    def __enter__(self) -> list[Path]:
        self._directory = Path(tempfile.mkdtemp(prefix="lakeward-bench-files-"))
        made = [self._directory / f"{number:03d}" for number in range(self._count)]
        for file in made:
            file.write_bytes(os.urandom(self._size))
        return made

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._directory)


# -- the choice of a library (docs/decisions/0017): `python -m bench.remote.stores`


async def _arrow_rates(place: Place, sources: list[Path]) -> tuple[float, float]:
    filesystem, root = place.arrow()

    def put(source: Path) -> None:
        with source.open("rb") as reader, filesystem.open_output_stream(f"{root}/bench/{source.name}") as writer:
            shutil.copyfileobj(reader, writer, 8 << 20)

    def get(source: Path) -> None:
        with filesystem.open_input_file(f"{root}/bench/{source.name}") as reader:
            reader.read()

    filesystem.create_dir(f"{root}/bench")
    with ThreadPoolExecutor(2) as pool:
        rates = []
        for work in (put, get):
            begun = time.perf_counter()
            list(pool.map(work, sources))
            rates.append(len(sources) / (time.perf_counter() - begun))
    filesystem.delete_dir_contents(f"{root}/bench")
    return rates[0], rates[1]


def _import_mb(module: str) -> float:
    """What a process weighs more once it has imported a module and opened a store."""
    code = (
        "import sys, asyncio, psutil\nme = psutil.Process()\nbefore = me.memory_info().rss\n"
        f"{module}\nprint((me.memory_info().rss - before) / 1e6)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Compare obstore with pyarrow's file systems."""
    from bench.remote.place import places

    for name, code in {
        "obstore": "import obstore; from obstore.store import S3Store\n"
        "S3Store('abc', endpoint='http://127.0.0.1:1', access_key_id='a', secret_access_key='b', region='us-east-1')",
        "pyarrow.fs": "import pyarrow.fs\n"
        "pyarrow.fs.S3FileSystem(access_key='a', secret_key='b', endpoint_override='127.0.0.1:1', region='us-east-1')",
    }.items():
        print(f"{name}: {_import_mb(code):.0f} MB")
    with places() as all_places, _files(_FILES, _FILE_BYTES) as large, _files(_SMALL_FILES, _SMALL_BYTES) as small:
        for place in all_places:
            for what, sources, size in (("64 MB", large, _FILE_BYTES), ("4 kB", small, _SMALL_BYTES)):
                for library, rates in (
                    ("our port", _best(_port_rates, place, sources)),
                    ("obstore", _best(_obstore_rates, place, sources)),
                    ("pyarrow.fs", _best(_arrow_rates, place, sources)),
                ):
                    put, get = (_rate(rate, size) for rate in rates)
                    print(f"{place.name}, {what}, {library}: put {put}; get {get}")


if __name__ == "__main__":
    main()
