"""Libraries that a program needs."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import pytest

from lakeward.cli.input.failures import Failure
from lakeward.cli.input.libraries import libraries_of


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> Iterator[None]:
    """Whoever started the tests may have left it to somebody else."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_library_that_is_missing_is_named_with_what_to_install() -> None:
    """In a sentence."""
    told = r"The thing needs .*\(no_such_library\): pip install 'lakeward\[things\]'"
    with pytest.raises(Failure, match=told), libraries_of("The thing", "things"):
        import no_such_library  # type: ignore[import-not-found]  # noqa: F401


def test_ctrl_c_is_not_lost_in_a_library_that_is_imported() -> None:
    """Some catch whatever comes while they are, or make an error of their own of it."""
    with pytest.raises(KeyboardInterrupt), libraries_of("The thing", "things"), contextlib.suppress(BaseException):
        signal.raise_signal(signal.SIGINT)
