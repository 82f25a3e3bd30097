"""Options of a statement: WITH ('key' = 'value', …) and the hint OPTIONS('key' = 'value', …)."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.statements.statement import Options


def read_options(reader: Reader) -> Options:
    """Options in brackets; a comma may stand behind the last one."""
    options: dict[str, str] = {}
    reader.expect("(", " before the options")
    while not reader.take(")"):
        token = reader.token
        key = reader.string("a key in single quotes")
        if key in options:
            reader.refuse(f"the option '{key}' is there already.", token)
        reader.expect("=", f" after '{key}'")
        options[key] = reader.string(f"the value of '{key}' in single quotes")
        if not reader.comes(")") and not reader.take(","):
            reader.refuse(f"expected ')' or ',' after the value of '{key}', found {reader.next_label}.")
    return options
