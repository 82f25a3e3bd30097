"""Prints docs/reference/functions.md from the rows.

`python -m lakeward.language.functions.reference [--check] [PATH]`
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlglot import exp

from lakeward.language.functions.shape.function import Function
from lakeward.language.functions.shape.types import spark_type
from lakeward.language.functions.table import SECTIONS
from lakeward.language.grammar import parse_script
from lakeward.language.statements.rows import Select

#: An argument in a form, by its name.
_HOLE = re.compile(r"\{([a-z_]{2,}…?|[a-z])\}")
PAGE = Path("docs/reference/functions.md")

_HEAD = """\
# Functions and types of scripts

Printed from the rows in `src/lakeward/language/functions` by `python -m lakeward.language.functions.reference`; do not
edit.

What a script says, what Spark does, and what differs: from Flink SQL, as its documentation describes it, or from the
function of Spark that has the same name. A function that is not listed is Spark's own, with Spark's meaning. Whole
numbers that grow beyond their type fail, as all of Spark's do, where Flink's go round.
"""
_TYPES = """BOOLEAN; TINYINT; SMALLINT; INT; BIGINT; FLOAT; DOUBLE; DECIMAL(10, 2); STRING; VARCHAR(20); CHAR(3); BYTES;
VARBINARY(16); DATE; TIME(0); TIMESTAMP(3); TIMESTAMP_LTZ(3); ARRAY<INT>; MAP<STRING, INT>;
ROW<a INT, b TIMESTAMP(3)>"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD, "\n## Types\n\n| in a script | on Spark |\n|---|---|\n"]
    parts += [f"| `{name}` | `` {spark_type(_type(name))} `` |\n" for name in map(str.strip, _TYPES.split(";"))]
    for title, rows in SECTIONS.items():
        parts += [f"\n## {title}\n", "\n| in a script | on Spark | what differs |\n|---|---|---|\n", *map(_row, rows)]
    return "".join(parts)


def _row(row: Function) -> str:
    calls = ", ".join(f"`{call}`" for call in row.calls)
    shown = "refused" if row.refusal else row.shown or ", ".join(_forms(row))
    differs = f"{row.refusal[0].upper()}{row.refusal[1:]}." if row.refusal else row.differs
    return f"| {_cell(calls)} | {_cell(shown)} | {_cell(differs)} |\n"


def _forms(row: Function) -> Iterator[str]:
    for text in row.forms.values():
        plain = _HOLE.sub(r"\1", text)
        yield f"`{plain}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _type(name: str) -> exp.DataType:
    (statement,) = parse_script(f"SELECT CAST(x AS {name});")
    assert isinstance(statement, Select)
    found = statement.query.find(exp.DataType)
    assert found is not None
    return found


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with --check say whether it is what would be written."""
    paths = [Path(argument) for argument in arguments if argument != "--check"]
    path = paths[0] if paths else PAGE
    if "--check" in arguments:
        if path.is_file() and path.read_text(encoding="utf-8") == page():
            return 0
        sys.stderr.write(f"{path} is not up to date; run python -m lakeward.language.functions.reference\n")
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
