"""Commands that need an extra say which, where its libraries are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakeward.cli.input.failures import Failure
from lakeward.runtime.process.held_signals import hold_signals


@contextmanager
def libraries_of(program: str, extras: str) -> Iterator[None]:
    """Import inside it: a library that is missing becomes a sentence with what to install.

    Ctrl-C waits meanwhile: pydantic and others make an error of their own of it, or lose it.
    """
    try:
        with hold_signals():
            yield
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.startswith("lakeward"):
            raise
        raise Failure(
            f"{program} needs libraries that are not installed ({missing.name}): pip install 'lakeward[{extras}]'."
        ) from None
