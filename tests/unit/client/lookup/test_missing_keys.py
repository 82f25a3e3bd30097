"""The error of a key that must be there and is not."""

from __future__ import annotations

import pytest

from lakeward.client.lookup.missing_keys import KeyNotFoundError
from lakeward.errors import ErrorCode, LakewardError, NotFoundError


@pytest.mark.parametrize("kind", [KeyNotFoundError, NotFoundError, LakewardError, KeyError, LookupError])
def test_it_is_caught_as_ours_and_as_pythons(kind: type[Exception]) -> None:
    """Code that expects a KeyError catches it, and so does code that expects any error of ours."""
    with pytest.raises(kind):
        raise KeyNotFoundError("db.t has no row with the key 7.")


def test_it_reads_as_it_was_written() -> None:
    """A KeyError would be shown in quotes; the server answered well, so there is no code."""
    wrong = KeyNotFoundError("db.t has no row with the key 7.")
    assert str(wrong) == "db.t has no row with the key 7."
    assert wrong.code is ErrorCode.NONE
