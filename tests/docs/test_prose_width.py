"""Lines of prose fit a narrow window: pages here, comments of what ruff does not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_WIDTH = 120
_ADDRESS = re.compile(r"https?://\S+")
_COMMENT = re.compile(r"^\s*(#|//|/?\*)")


def _files(*patterns: str) -> list[str]:
    return sorted(str(path.relative_to(_ROOT)) for pattern in patterns for path in _ROOT.glob(pattern))


@pytest.mark.parametrize("page", _files("*.md", "docs/**/*.md"))
def test_a_page_is_not_wide(page: str) -> None:
    """Code, tables and addresses may be wide; sentences are wrapped."""
    assert [line for line in _prose((_ROOT / page).read_text()) if len(_ADDRESS.sub("", line)) > _WIDTH] == []


@pytest.mark.parametrize("file", _files("src/**/*.java", "src/**/*.properties", "*.toml", "Makefile", ".ci/run"))
def test_comments_are_not_wide(file: str) -> None:
    """Python's are ruff's to look at; these are ours. What `make help` prints counts as a comment."""
    lines = (_ROOT / file).read_text().splitlines()
    assert [line for line in lines if (_COMMENT.match(line) or " ## " in line) and len(line) > _WIDTH] == []


def _prose(text: str) -> Iterator[str]:
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith("|"):
            yield line
