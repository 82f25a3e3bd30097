"""Work that mostly waits, done on threads beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

_THREADS_MAX = 8


def side_by_side(works: Sequence[Callable[[], T]]) -> Iterator[T]:
    """The results, in order, each as soon as it is there; what goes wrong is raised in its place.

    Nobody waits for what is still under way when the taker goes, by Ctrl-C for example.
    """
    if len(works) == 1:
        yield works[0]()
        return
    results: list[Future[T]] = [Future() for _ in works]
    todo = iter(list(zip(works, results, strict=True)))

    def run() -> None:
        for work, result in todo:
            try:
                result.set_result(work())
            except BaseException as wrong:  # noqa: BLE001 - raised to whoever takes the result
                result.set_exception(wrong)

    for _ in range(min(len(works), _THREADS_MAX)):
        Thread(target=run, name="lakeward-side-by-side", daemon=True).start()
    for result in results:
        yield result.result()
