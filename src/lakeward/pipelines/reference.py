"""Prints docs/reference/pipelines.md and docs/reference/pipeline.schema.json from the rows.

`python -m lakeward.pipelines.reference [--check]`
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeward.options.reference import default_text
from lakeward.pipelines.json_schema import pipeline_schema
from lakeward.pipelines.rows.part import Part
from lakeward.pipelines.rows.sinks import SINKS
from lakeward.pipelines.rows.sources import SOURCES
from lakeward.pipelines.rows.steps import STEPS

PAGE = Path("docs/reference/pipelines.md")
SCHEMA = Path("docs/reference/pipeline.schema.json")
_HEAD = """\
# Pipelines in YAML

Printed from the rows of `src/lakeward/pipelines/rows` by `python -m lakeward.pipelines.reference`; do not edit. What
each is for is told in [the guide](../guides/pipelines.md); editors that check YAML take
[the JSON schema](pipeline.schema.json).

A document has `source` and `sink`, and may have `route`, `transform` and `pipeline`. A file may hold several documents
with `---` between them. `${NAME}` is a variable of the environment, `${file:/path}` what a file holds.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for title, group in (("source", SOURCES), ("sink", SINKS)):
        for name, part in group.items():
            parts += [f"\n## {title}: {name}\n\n{part.summary}\n", *_table(part)]
    for name, part in STEPS.items():
        parts += [f"\n## {name}\n\n{part.summary}\n", *_table(part)]
    return "".join(parts)


def _table(part: Part) -> Iterator[str]:
    yield "\n| key | type | default | meaning |\n|---|---|---|---|\n"
    for row in part.options:
        default = "required" if row.key in part.required else default_text(row)
        yield f"| `{row.key}` | {row.kind.name} | {default} | {row.doc} |\n"
    for prefix, doc in part.options.open_prefixes.items():
        yield f"| `{prefix}*` | | – | {doc} |\n"
    if part.any_of:
        ways = " or ".join(" with ".join(f"`{key}`" for key in group) for group in part.any_of)
        yield f"\nOne of these must be given: {ways}.\n"


def main(arguments: Sequence[str]) -> int:
    """Write both, or with --check say whether they are what would be written."""
    wanted = {PAGE: page(), SCHEMA: json.dumps(pipeline_schema(), indent=2, ensure_ascii=False) + "\n"}
    if "--check" not in arguments:
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        sys.stderr.write(f"{path} is not up to date; run python -m lakeward.pipelines.reference\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
