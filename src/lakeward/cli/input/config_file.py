"""Settings of a server in a YAML file, as they were meant: what is no mapping, or says a thing twice, is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from lakeward.errors import ErrorCode


def settings_in(file: Path) -> dict[str, Any]:
    """What a file says; an empty one says nothing."""
    try:
        found = yaml.load(file.read_text(encoding="utf-8"), _Loader) or {}  # noqa: S506 - it is a safe one
    except UnicodeDecodeError as wrong:
        raise ErrorCode.INVALID_CONFIG.error(f"{file} is no text in UTF-8: {wrong.reason}.") from wrong
    except yaml.YAMLError as wrong:
        raise ErrorCode.INVALID_CONFIG.error(f"{file} cannot be read as YAML: {wrong}") from wrong
    if not isinstance(found, dict):
        raise ErrorCode.INVALID_CONFIG.error(f"{file} has no settings; write one a line, key: value.")
    return found


class _Loader(yaml.SafeLoader):
    """YAML leaves open which of two settings of one name counts; of a login or a grant nobody should have to guess."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The pairs of a mapping."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError(f"line {key.start_mark.line + 1} begins with no name of a setting.")
            line = key.start_mark.line + 1
            if key.value in lines:
                raise yaml.YAMLError(f"'{key.value}' is there twice, in lines {lines[key.value]} and {line}.")
            lines[key.value] = line
        return super().construct_mapping(node, deep)
