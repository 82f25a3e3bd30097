"""Types of columns: how far one reaches, and what the model makes of it."""

from __future__ import annotations

import re

from lakeward.errors import LakewardError
from lakeward.language.grammar.text.reader import Reader
from lakeward.model.data_types import DataType
from lakeward.model.type_text import parse_type

_OPENERS = {"<": 1, "(": 1, ">": -1, ")": -1, "<>": 0}
_ZONES = ("WITHOUT TIME ZONE", "WITH LOCAL TIME ZONE")


def read_type(reader: Reader) -> DataType:
    """A type with NOT NULL, if that is said."""
    first = reader.at
    reader.name("a type, AS or METADATA")
    if reader.key in {"<", "("}:
        depth = 0
        while reader.token is not None:
            depth += _OPENERS.get(reader.key, 0)
            reader.at += 1
            if depth == 0:
                break
    for zone in _ZONES:
        if reader.take(zone):
            break
    last = reader.at
    is_required = reader.take("NOT NULL")
    if not is_required:
        reader.take("NULL")
    tokens = reader.piece.tokens[first:last]
    text = reader.piece.script.text[tokens[0].start : tokens[-1].end]
    if text.upper() == "DOUBLE" and reader.take("PRECISION"):
        is_required = reader.take("NOT NULL")
    try:
        type_ = parse_type(text)
    except LakewardError as error:
        why = str(error).split(":\n")[0]
        named = re.search(r"'([^']+)'", why)
        culprits = [token for token in tokens if named is not None and token.text == named.group(1)]
        reader.at = reader.piece.tokens.index((culprits or tokens)[0])
        near = reader.near(why.split("the types are ")[-1].split(", "))
        reader.refuse(f"{why.split('; the types')[0] if near else why}.{near}")
    return type_.not_null() if is_required else type_
