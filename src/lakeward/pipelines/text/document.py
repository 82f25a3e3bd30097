"""Document: one YAML document as plain values, and the place of each.

A path is the way to a value: `("transform", 0, "projection")`. Scalars keep their text as well: a password `0123` is
that, not a number. Everything is bounded, aliases counted as often as they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from lakeward.pipelines.text.mistake import Mistake

FILE_BYTES_MAX = 1 << 20
_NODES_MAX = 20_000
_DEPTH_MAX = 20
_TAG = "tag:yaml.org,2002:"
_TYPES: dict[str, Callable[[str], Any]] = {
    f"{_TAG}str": str,
    f"{_TAG}int": yaml.safe_load,
    f"{_TAG}float": yaml.safe_load,
    f"{_TAG}bool": yaml.safe_load,
    f"{_TAG}timestamp": str,
    f"{_TAG}null": lambda _text: None,
    f"{_TAG}value": str,
}
_GROUPS = {f"{_TAG}map", f"{_TAG}seq"}

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Document:
    """What one document holds."""

    file: str
    value: Any = None
    texts: dict[Path, str] = field(default_factory=dict)
    """Scalars as they were written, without quotes."""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Where values begin: line and column."""
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Where their keys stand."""
    blocks: set[Path] = field(default_factory=set)
    """Scalars that begin in the line after their `|` or `>`."""
    quoted: set[Path] = field(default_factory=set)
    """Scalars in quotes."""

    def mistake(self, path: Path, sentence: str, *, at_key: bool = False) -> Mistake:
        """A mistake at a value, or at its key; where there is neither, at what is around it."""
        while path and path not in self.places:
            path = path[:-1]
        line, column = (self.keys if at_key else self.places).get(path, self.places.get(path, (1, 1)))
        return Mistake(self.file, line, column, sentence)


def read_documents(text: str, file: str) -> tuple[list[Document], list[Mistake]]:
    """The documents of a text, and what is wrong with it as YAML."""
    if len(text.encode()) > FILE_BYTES_MAX:
        return [], [Mistake(file, 1, 1, f"the file is larger than {FILE_BYTES_MAX >> 20} MiB; expected a pipeline.")]
    mistakes: list[Mistake] = []
    documents: list[Document] = []
    try:
        for node in yaml.compose_all(text, yaml.SafeLoader):
            if node is None or _is_empty(node):
                continue
            reader = _Reader(Document(file), mistakes)
            reader.document.value = reader.read(node, ())
            documents.append(reader.document)
    except yaml.MarkedYAMLError as wrong:
        mistakes.append(_of_yaml(wrong, file))
    except yaml.YAMLError as wrong:
        mistakes.append(Mistake(file, *_place_of_character(wrong, text), _first_line(wrong)))
    except RecursionError:
        mistakes.append(Mistake(file, 1, 1, f"this is nested too deeply; expected {_DEPTH_MAX} levels at most."))
    except _TooMuchError as wrong:
        mistakes.append(Mistake(file, *_place(wrong.node), wrong.sentence))
    return documents, mistakes


class _TooMuchError(Exception):
    def __init__(self, node: yaml.Node, sentence: str) -> None:
        super().__init__(sentence)
        self.node, self.sentence = node, sentence


class _Reader:
    """One walk over the nodes of a document."""

    def __init__(self, document: Document, mistakes: list[Mistake]) -> None:
        self.document = document
        self._mistakes = mistakes
        self._count = 0

    def read(self, node: yaml.Node, path: Path) -> Any:
        self._count += 1
        if self._count > _NODES_MAX:
            raise _TooMuchError(node, f"there are more than {_NODES_MAX:,} values here, aliases counted; write less.")
        if len(path) > _DEPTH_MAX:
            raise _TooMuchError(node, f"this is nested too deeply; expected {_DEPTH_MAX} levels at most.")
        self.document.places[path] = _place(node)
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _GROUPS:
            self._refuse_tag(node, path)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        convert = _TYPES.get(node.tag)
        if convert is None:
            self._refuse_tag(node, path)
            convert = str
        self.document.texts[path] = node.value
        style = getattr(node, "style", None)
        if style is not None:
            (self.document.blocks if style in {"|", ">"} else self.document.quoted).add(path)
        return convert(node.value)

    def _refuse_tag(self, node: yaml.Node, path: Path) -> None:
        tag = node.tag.replace(_TAG, "!!")
        self._mistakes.append(self.document.mistake(path, f"the tag {tag} is not read; expected a plain value."))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in self._pairs(node):
            if not isinstance(key, yaml.ScalarNode):
                self._mistakes.append(Mistake(self.document.file, *_place(key), "a key is a word, not a list or map."))
                continue
            name = str(key.value)
            if name in found:
                first = f"the first one is in line {lines[name]}"
                self._mistakes.append(
                    Mistake(self.document.file, *_place(key), f"'{name}' is given twice; {first}. Leave one out.")
                )
                continue
            lines[name] = _place(key)[0]
            self.document.keys[(*path, name)] = _place(key)
            found[name] = self.read(value, (*path, name))
        return found

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Its pairs; what `<<` brings comes last, and gives way."""
        own = [pair for pair in node.value if pair[0].tag != f"{_TAG}merge"]
        names = {key.value for key, _ in own if isinstance(key, yaml.ScalarNode)}
        yield from own
        for key, value in node.value:
            if key.tag != f"{_TAG}merge":
                continue
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(merged, yaml.MappingNode):
                    self._mistakes.append(Mistake(self.document.file, *_place(key), "'<<' takes a map, or several."))
                    continue
                for pair in merged.value:
                    if str(pair[0].value) not in names:
                        names.add(str(pair[0].value))
                        yield pair


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}null"


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _of_yaml(wrong: yaml.MarkedYAMLError, file: str) -> Mistake:
    mark = wrong.problem_mark or wrong.context_mark
    line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
    problem = str(wrong.problem or wrong)
    if "'\\t'" in problem:
        problem = "a tab cannot indent YAML; expected spaces"
    elif "mapping values are not allowed" in problem:
        problem = "a ':' is not expected here; check the indentation, or put the value in quotes"
    elif wrong.context:
        problem = f"{problem} ({wrong.context})"
    return Mistake(file, line, column, f"this is not YAML: {problem}.")


def _place_of_character(wrong: yaml.YAMLError, text: str) -> tuple[int, int]:
    before = text[: getattr(wrong, "position", 0)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _first_line(wrong: yaml.YAMLError) -> str:
    return f"this is not YAML: {str(wrong).splitlines()[0]}."
