"""The JSON schema of a pipeline, made from the rows, and its complaints as sentences with places.

`type` says which rows hold, so a document is checked against the schema of its own types: a key that another sink has
is named as unknown, with the nearest one that is known here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from lakeward.options.kinds import BOOL
from lakeward.options.option import Option
from lakeward.pipelines.rows.part import Part
from lakeward.pipelines.rows.sinks import SINKS
from lakeward.pipelines.rows.sources import SOURCES
from lakeward.pipelines.rows.steps import STEPS
from lakeward.pipelines.text.document import Document, Path
from lakeward.pipelines.text.mistake import Mistake

_SCALAR = ["string", "integer", "number", "boolean"]
_LIKENESS = 0.6


def pipeline_schema() -> dict[str, Any]:
    """The schema of one document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A pipeline of Lakeward",
        "type": "object",
        "required": ["source", "sink"],
        "additionalProperties": False,
        "properties": {
            "source": _part_by_type(SOURCES),
            "sink": _part_by_type(SINKS),
            "route": {"type": "array", "items": _part(STEPS["route"])},
            "transform": {"type": "array", "items": _part(STEPS["transform"])},
            "pipeline": _part(STEPS["pipeline"]),
        },
    }


def _part_by_type(parts: Mapping[str, Part]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "enum": list(parts)}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": _part(part, with_type=True),
            }
            for name, part in parts.items()
        ],
    }


def _part(part: Part, *, with_type: bool = False) -> dict[str, Any]:
    properties = {row.key: _value(row) for row in part.options}
    if with_type:
        properties["type"] = {}
        properties["name"] = {"type": "string", "description": "A word for whoever reads the file."}
    found: dict[str, Any] = {
        "type": "object",
        "description": part.summary,
        "properties": properties,
        "required": list(part.required),
        "additionalProperties": False,
    }
    if part.options.open_prefixes:
        found["patternProperties"] = {
            f"^{prefix.replace('.', chr(92) + '.')}": {"type": _SCALAR} for prefix in part.options.open_prefixes
        }
    if part.any_of:
        found["anyOf"] = [{"required": list(group)} for group in part.any_of]
    return found


def _value(row: Option[Any]) -> dict[str, Any]:
    types: list[str] = list(_SCALAR)
    if row.kind.name == "list":
        types.append("array")
    elif row.kind.name == "map":
        types.append("object")
    elif row.kind is BOOL:
        types = ["boolean", "string"]
    found: dict[str, Any] = {"type": types, "description": row.doc}
    if row.kind.name.startswith("one of "):
        found["enum"] = row.kind.name.removeprefix("one of ").split(", ")
    return found


def schema_mistakes(document: Document) -> Iterator[Mistake]:
    """What the schema has against a document."""
    for error in Draft202012Validator(pipeline_schema()).iter_errors(document.value):
        yield from _sentences(document, error)


def _sentences(document: Document, error: Any) -> Iterator[Mistake]:
    path: Path = tuple(error.absolute_path)
    match error.validator:
        case "additionalProperties":
            schema = error.schema
            prefixes = [pattern.replace("\\", "").lstrip("^") for pattern in schema.get("patternProperties", {})]
            for key in error.instance:
                if key not in schema["properties"] and not key.startswith(tuple(prefixes)):
                    yield document.mistake((*path, key), _unknown(key, path, schema), at_key=True)
        case "required":
            for key in error.validator_value:
                if key not in error.instance:
                    known = _description(error.schema, key)
                    yield document.mistake(path, f"{_where(path)} lacks '{key}'.{known}", at_key=True)
        case "anyOf":
            ways = " or ".join(" and ".join(f"'{key}'" for key in one["required"]) for one in error.validator_value)
            yield document.mistake(path, f"{_where(path)} lacks {ways}.", at_key=True)
        case "enum":
            near = _nearest(str(error.instance), error.validator_value)
            yield document.mistake(
                path, f"'{path[-1]}' is {_value_of(error)}; expected one of {', '.join(error.validator_value)}.{near}"
            )
        case "type":
            yield document.mistake(path, f"{_where(path)} is {_kind(error.instance)}; expected {_wanted_kind(error)}.")
        case _:
            yield document.mistake(path, f"{_where(path)}: {error.validator} is not met.")


def _unknown(key: str, path: Path, schema: Mapping[str, Any]) -> str:
    return f"{_where(path)} has no '{key}'.{_nearest(key, schema['properties'])}"


def _nearest(word: str, words: Any) -> str:
    found = difflib.get_close_matches(word.lower(), list(words), n=1, cutoff=_LIKENESS)
    return f" Did you mean '{found[0]}'?" if found else ""


def _description(schema: Mapping[str, Any], key: str) -> str:
    if key == "type":
        return f" Expected one of {', '.join(schema['properties']['type']['enum'])}."
    told = schema.get("properties", {}).get(key, {}).get("description", "")
    return f" {told}" if told else ""


def _where(path: Path) -> str:
    if not path:
        return "the document"
    words = [f"{word}" if isinstance(word, str) else f"[{word + 1}]" for word in path]
    return "'" + ".".join(words).replace(".[", "[") + "'"


def _value_of(error: Any) -> str:
    return "no word" if isinstance(error.instance, dict | list) else f"'{error.instance}'"


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    return "a list" if isinstance(value, list) else "a map" if isinstance(value, dict) else "a single value"


def _wanted_kind(error: Any) -> str:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    if wanted == ["object"]:
        return "a map of keys and values"
    if wanted == ["array"]:
        return "a list, whose items begin with '-'"
    return "a single value" + (" or a list" if "array" in wanted else " or a map" if "object" in wanted else "")
