"""YAML with places: values, lines, limits, and nothing that runs."""

from __future__ import annotations

import pytest

from lakeward.pipelines.text.document import FILE_BYTES_MAX, read_documents


def test_values_keep_their_text_and_their_place() -> None:
    """A password of digits stays what was typed; every value knows its line and column."""
    [document], mistakes = read_documents("source:\n  password: 0123\n  port: 3306\n", "p.yaml")
    assert mistakes == []
    assert document.value["source"]["port"] == 3306
    assert document.texts[("source", "password")] == "0123"
    assert document.places[("source", "port")] == (3, 9)
    assert document.keys[("source", "port")] == (3, 3)


def test_several_documents_and_empty_ones() -> None:
    """`---` ends a document; empty ones are passed over."""
    documents, mistakes = read_documents("a: 1\n---\n---\nb: 2\n", "p.yaml")
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}]
    assert mistakes == []


def test_merge_keys_give_way_to_what_is_written() -> None:
    """`<<` brings what is not written beside it."""
    [document], _ = read_documents("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n", "p.yaml")
    assert document.value["own"] == {"y": 3, "x": 1}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("source:\n\ttype: x\n", 2, 1, "a tab cannot indent YAML"),
        ("a: [1, 2\nb: 3", 2, 2, "expected ',' or ']'"),
        ("a: 1\n  b: 2\n", 2, 4, "check the indentation"),
        ("a: 1\na: 2\n", 2, 1, "'a' is given twice; the first one is in line 1"),
        ("a: !!python/name:os.system x\n", 1, 4, "the tag !!python/name:os.system is not read"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, 4, "the tag !!python/object/apply:os.system is not read"),
        ("a: \x01b", 1, 4, "unacceptable character"),
        ("? [a]\n: 1\n", 1, 3, "a key is a word"),
        ("[" * 5000, 1, 1, "nested too deeply"),
        ("x: &x [*x]", 1, 4, "nested too deeply"),
        ("x" * (FILE_BYTES_MAX + 1), 1, 1, "larger than 1 MiB"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_place(text: str, line: int, column: int, words: str) -> None:
    """Tabs, indentation, doubled keys, tags and depth: each with line and column."""
    _, mistakes = read_documents(text, "p.yaml")
    assert (mistakes[0].line, mistakes[0].column) == (line, column)
    assert words in mistakes[0].sentence


def test_aliases_count_as_often_as_they_are_used() -> None:
    """A few lines that would become a billion values are refused."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    for own, other in zip("bcdefgh", "abcdefg", strict=True):
        lines.append(f"{own}: &{own} [{','.join([f'*{other}'] * 10)}]")
    _, mistakes = read_documents("\n".join(lines), "p.yaml")
    assert "more than 20,000 values" in mistakes[0].sentence
