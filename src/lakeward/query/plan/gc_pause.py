"""No garbage collection while a plan is made: it is many small objects, none of them garbage, searched in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Off inside; afterwards as it was before. Where threads overlap, it is on again when the first is done."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
