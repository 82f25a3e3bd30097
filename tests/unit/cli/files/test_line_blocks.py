"""Blocks of whole lines."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from read_files import source_of

from lakeward.cli.files.line_blocks import LineBlocks, whole_lines, whole_quoted_lines


@given(st.text('a"\n', max_size=60), st.integers(1, 20))
def test_blocks_put_together_are_the_file(tmp_path_factory, text: str, block_bytes: int) -> None:  # type: ignore[no-untyped-def]
    """Nothing is lost or doubled, every block but the last ends a line, and lines are counted right."""
    source = source_of(tmp_path_factory.mktemp("b"), "t", text)
    blocks = list(LineBlocks(source, whole_lines, block_bytes))
    assert b"".join(block.data for block in blocks).decode() == text
    line = 1
    for number, block in enumerate(blocks, 1):
        assert block.first_line == line
        assert block.data.endswith(b"\n") or number == len(blocks)
        line += block.data.count(b"\n")


@given(st.text('a"\n', max_size=60))
def test_a_quoted_line_break_is_never_cut(text: str) -> None:
    """A cut leaves an even number of quotes before it."""
    data = text.encode()
    cut = whole_quoted_lines(data)
    assert data[:cut].count(b'"') % 2 == 0
    assert cut == 0 or data[cut - 1 : cut] == b"\n"


def test_peeking_does_not_take_the_block_away(tmp_path: Path) -> None:
    """What was looked at is still read."""
    blocks = LineBlocks(source_of(tmp_path, "t", "a\nb\n"), whole_lines, 2)
    assert blocks.peek() == (b"a\n", 1)
    assert [block.data for block in blocks] == [b"a\n", b"b\n"]
