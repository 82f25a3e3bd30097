"""References to the environment and to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeward.pipelines.text.references import References


def test_variables_and_files_are_filled_in(tmp_path: Path) -> None:
    """Both may stand inside of a text; a file's last newline is not part of its value."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    references = References({"HOST": "db"})
    assert references.fill(f"${{HOST}}:1 ${{file:{secret}}}") == ("db:1 s3cret", True)
    assert references.fill("${env:HOST}:1") == ("db:1", True)
    assert references.fill("plain $x") == ("plain $x", False)
    assert references.fill("$${HOST}") == ("${HOST}", False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${NOPE}", "NOPE} is not set in the environment"),
        ("${file:/no/such}", "cannot be read: No such file"),
        ("${a b}", "is no reference"),
        ("${HOST", "is not closed"),
        ("${file:/dev/zero}", "larger than 64 KiB"),
    ],
)
def test_what_cannot_be_filled_in_says_why(text: str, words: str) -> None:
    """A missing variable or file is named."""
    with pytest.raises(ValueError, match=re.escape(words)):
        References({}).fill(text)
