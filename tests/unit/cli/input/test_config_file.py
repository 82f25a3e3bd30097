"""Settings in a file: what is read, and what is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.cli.input.config_file import settings_in
from lakeward.errors import LakewardError


def test_settings_are_read_with_points_or_nested(tmp_path: Path) -> None:
    """An empty file has none."""
    file = tmp_path / "server.yaml"
    for text, found in (("", {}), ("data.dir: d\n", {"data.dir": "d"}), ("data: {dir: d}", {"data": {"dir": "d"}})):
        file.write_text(text)
        assert settings_in(file) == found


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"authorizer.enabled: true\nport: 1\nauthorizer.enabled: false\n", "twice, in lines 1 and 3"),
        (b"data:\n  dir: a\n  dir: b\n", "'dir' is there twice, in lines 2 and 3"),
        (b"- data.dir: d\n", "server.yaml has no settings"),
        (b"word", "server.yaml has no settings"),
        (b"data.dir: \xff\xfe\n", "server.yaml is no text in UTF-8"),
        (b"? [a, b]\n: c\n", "line 1 begins with no name"),
        (b"data.dir: *there\n", "cannot be read as YAML"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    """The sentence names the file and, where it can, the lines."""
    file = tmp_path / "server.yaml"
    file.write_bytes(content)
    with pytest.raises(LakewardError, match=told):
        settings_in(file)
