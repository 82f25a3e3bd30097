"""JSON."""

from __future__ import annotations

from lakeward.language.functions.rows.json_reading import rewrite_exists, rewrite_query, rewrite_value
from lakeward.language.functions.rows.json_writing import (
    rewrite_array,
    rewrite_array_of_rows,
    rewrite_object,
    rewrite_quote,
    rewrite_string,
    rewrite_unquote,
)
from lakeward.language.functions.shape.function import Function, Kind

JSON = (
    Function(
        name="JSON_VALUE",
        forms={"json, path": "get_json_object({json}, {path})"},
        rewrite=rewrite_value,
        differs="RETURNING, DEFAULT … ON EMPTY and ON ERROR are done. NULL where the path finds nothing, an object or "
        "an array, and where the text is no JSON. The path is a literal of names and numbers.",
    ),
    Function(
        name="JSON_QUERY",
        forms={"json, path": "get_json_object({json}, {path})", "json, path, words": ""},
        rewrite=rewrite_query,
        written="JSON_QUERY(json, path [WITH … WRAPPER] [… ON EMPTY] [… ON ERROR])",
        shown="`get_json_object(json, path)`",
        differs="NULL where the path finds no object and no array. Without blanks between its parts.",
    ),
    Function(
        name="JSON_EXISTS",
        forms={"json, path": "", "json, path, words": ""},
        rewrite=rewrite_exists,
        written="JSON_EXISTS(json, path [… ON ERROR])",
        shown="`variant_get(parse_json(json), path) IS NOT NULL`",
        differs="FALSE where the text is no JSON, unless ON ERROR says otherwise.",
    ),
    Function(
        name="JSON_STRING",
        forms={"value": "to_json({value})"},
        rewrite=rewrite_string,
        differs="Scalars, too.",
    ),
    Function(name="JSON_QUOTE", forms={"text": "to_json({text})"}, rewrite=rewrite_quote),
    Function(
        name="JSON_UNQUOTE",
        forms={"json": "from_json({json}, 'string')"},
        rewrite=rewrite_unquote,
        differs="A text that is no JSON text in quotes stays as it is.",
    ),
    Function(
        name="JSON_OBJECT",
        written="JSON_OBJECT([KEY] key VALUE value, …)",
        forms={"pairs…": "to_json(named_struct({pairs…}))"},
        rewrite=rewrite_object,
        differs="NULL ON NULL is the default, ABSENT ON NULL is done.",
    ),
    Function(
        name="JSON_ARRAY",
        forms={"values…": "to_json(array({values…}))"},
        rewrite=rewrite_array,
        differs="Values of different types stay what they are; NULLs are left out unless NULL ON NULL is said.",
    ),
    Function(
        name="JSON_OBJECTAGG",
        written="JSON_OBJECTAGG([KEY] key VALUE value)",
        forms={"pairs…": "to_json(map_from_entries(collect_list(struct({pairs…}))))"},
        rewrite=rewrite_object,
        kind=Kind.AGGREGATE,
        differs="A key that comes twice is written twice; Flink fails.",
    ),
    Function(
        name="JSON_ARRAYAGG",
        forms={"value": "to_json(collect_list({value}))", "value, words": ""},
        written="JSON_ARRAYAGG(value)",
        shown="`to_json(collect_list(value))`",
        rewrite=rewrite_array_of_rows,
        kind=Kind.AGGREGATE,
        differs="NULLs are left out unless NULL ON NULL is said.",
    ),
)
