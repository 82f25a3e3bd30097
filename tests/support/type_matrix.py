"""Every type, with values at its edges, and the page that says what becomes of them.

A cell of the page is `same`, or says why not. Tests measure their columns of it and compare; with PRINT_TYPES=1 they
write what they have found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import LakewardError
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_type

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "types.md"
COLUMNS = ("append", "upsert", "Iceberg", "Paimon", "DuckDB", "pyiceberg", "Spark")
SAME, MICROS = "same", "rounded down to µs"
_DAY_S = 86_400
_HEAD = """# Types

*Printed by `tests/integration/test_type_matrix.py` and `tests/spark/test_spark_types.py` (PRINT_TYPES=1), which fail
when a cell is no longer true.*

What becomes of values at the edges of each type, NULL among them. **append** and **upsert** write to a log table and to
a primary key table and read back; **Iceberg** and **Paimon** tier both and read them as a union; **DuckDB** asks
by SQL while rows are hot and when they are cold in either lake; **pyiceberg** reads the Iceberg table without us;
**Spark** reads hot and cold. Either a value is the same everywhere, or it is refused where a sentence says so.

"""


@dataclass(frozen=True)
class Case:
    """A type and some of its values: numbers for days, times and moments, since Python cannot name all of them."""

    sql: str
    which: str
    values: Sequence[Any]
    #: Stands in a table of its own, since it is refused somewhere.
    alone: bool = False
    #: Whether it may stand in a table with TIMESTAMP(9).
    beside_nanoseconds: bool = True

    @property
    def key(self) -> tuple[str, str]:
        return self.sql, self.which

    def array(self) -> pa.Array:
        """The values, then NULL, in Arrow."""
        target = arrow_type(parse_type(self.sql))
        if pa.types.is_temporal(target):
            number = pa.int32() if target.bit_width == 32 else pa.int64()
            return pa.array([*self.values, None], number).cast(target)
        return pa.array([*self.values, None], target)


def _moments(kind: str) -> list[Case]:
    cases = []
    for digits in (0, 3, 6, 9):
        unit = 10**digits
        edges = [0, -1 if digits < 9 else -1000, 1 if digits < 9 else 1000, -2_000_000_000 * unit, 4_000_000_000 * unit]
        if digits < 9:
            years = [-62_135_596_800 * unit, 253_402_300_799 * unit]
            cases.append(Case(f"{kind}({digits})", "years 1 to 9999", years, beside_nanoseconds=False))
            far = [253_402_300_800 * unit]
            cases.append(Case(f"{kind}({digits})", "the year 10000 and later", far, beside_nanoseconds=False))
        else:
            cases.append(
                Case(f"{kind}(9)", "nanoseconds, before 1970 too", [1, -1, 1_700_000_000_123_456_789], alone=True)
            )
        cases.append(Case(f"{kind}({digits})", "around 1970" if digits < 9 else "microseconds", edges))
    return cases


def _times() -> list[Case]:
    units = {0: 1, 3: 1000, 6: 10**6, 9: 10**9}
    coarse = []
    for digits, unit in units.items():
        last = _DAY_S * unit - max(unit // 1000, 1)
        coarse.append(Case(f"TIME({digits})", "milliseconds" if digits > 3 else "", [0, (_DAY_S - 1) * unit, last]))
    return [*coarse, Case("TIME(6)", "finer", [1], alone=True), Case("TIME(9)", "finer", [1_000], alone=True)]


def _numbers() -> list[Case]:
    integers = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
    found = [Case(name, "", [0, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1]) for name, bits in integers.items()]
    odd = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5]
    found += [Case("FLOAT", "", [*odd, 1e-45]), Case("DOUBLE", "", [*odd, 5e-324, 0.1])]
    for digits, scale in ((5, 2), (18, 0), (28, 14), (38, 0), (38, 18), (38, 38)):
        largest, smallest = (Decimal((sign, (9,) * digits, -scale)) for sign in (0, 1))
        found.append(Case(f"DECIMAL({digits}, {scale})", "", [largest, smallest, Decimal(0)]))
    return found


CASES: tuple[Case, ...] = (
    Case("BOOLEAN", "", [True, False]),
    *_numbers(),
    Case("CHAR(3)", "", ["abc", "a", "日本語"]),
    Case("STRING", "", ["", "\0", "\U0010ffff" * 20, "a" * 15 + "\ud7ffb"]),
    Case("BINARY(3)", "", [b"abc", b"\0\0\0"]),
    Case("BYTES", "", [b"", b"\xff" * 20]),
    Case("DATE", "years 1 to 9999", [0, -1, -719_162, 2_932_896]),
    Case("DATE", "the year 10000 and later", [2_932_897]),
    *_times(),
    *_moments("TIMESTAMP"),
    *_moments("TIMESTAMP_LTZ"),
    Case("ARRAY<INT>", "", [[], [1, None]]),
    Case("ARRAY<TIMESTAMP(9)>", "microseconds", [[-1000, None]]),
    Case("ARRAY<TIMESTAMP(9)>", "nanoseconds", [[-1]], alone=True),
    Case("MAP<STRING, DECIMAL(38, 18)>", "", [[], [("a", Decimal("1.5")), ("b", None)]]),
    Case("ROW<a INT, b STRING>", "", [{"a": 1, "b": None}]),
    Case("ROW<t TIME(9)>", "milliseconds", [{"t": 1_000_000}]),
    Case("ARRAY<ROW<m MAP<INT, ARRAY<BYTES>>>>", "", [[{"m": [(1, [b"", None])]}, None]]),
)

#: The ways of others; the files are right.
_KNOWN = {
    (CASES[-1].sql, "pyiceberg"): "a NULL list of rows reads as an empty one: pyiceberg 0.12 forgets what the file has",
    ("CHAR(3)", "Spark"): "filled up with spaces, as Spark's CHAR is",
    ("ARRAY<TIMESTAMP(9)>", "Spark"): MICROS,
}
Cells = dict[tuple[str, str], dict[str, str]]


def groups() -> list[list[Case]]:
    """Cases that share a table: all that are expected to pass, then one by one."""
    shared = [[c for c in CASES if not c.alone and c.beside_nanoseconds is beside] for beside in (True, False)]
    return [*shared, *([c] for c in CASES if c.alone)]


def table_of(cases: Sequence[Case]) -> pa.Table:
    """The rows of a table with a column for each case; shorter columns end in NULLs."""
    arrays = [case.array() for case in cases]
    count = max(map(len, arrays))
    filled = [pa.concat_arrays([a, pa.nulls(count - len(a), a.type)]) for a in arrays]
    return pa.table([pa.array(range(count), pa.int64()), *filled], names_of(cases))


def names_of(cases: Sequence[Case]) -> list[str]:
    return ["id", *(f"c{n}" for n in range(len(cases)))]


def schema_of(cases: Sequence[Case]) -> str:
    """The columns as SQL declares them."""
    return ", ".join(["id BIGINT NOT NULL", *(f"c{n} {case.sql}" for n, case in enumerate(cases))])


class Found:
    """What was found of some places, case by case; what is worst is kept."""

    def __init__(self) -> None:
        self.cells: Cells = {case.key: {} for case in CASES}

    def measure(self, cases: Sequence[Case], place: str, read: Callable[[], pa.Table]) -> bool:
        """Read a table of cases and compare it; whether it could be read."""
        try:
            rows = read()
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is what happened
            reason = str(wrong) if isinstance(wrong, LakewardError) else f"{type(wrong).__name__}: {wrong}"
            for case in cases:
                self._tell(case, place, _refusal(reason))
            return False
        rows, want = rows.sort_by("id"), table_of(cases)
        for name, case in zip(names_of(cases)[1:], cases, strict=True):
            cell = compared(want[name], rows[name])
            self._tell(case, place, _KNOWN.get((case.sql, place), cell) if cell.startswith("CHANGED") else cell)
        return True

    def _tell(self, case: Case, place: str, cell: str) -> None:
        if self.cells[case.key].get(place, SAME) == SAME:
            self.cells[case.key][place] = cell


def compared(want: pa.ChunkedArray, found: pa.ChunkedArray) -> str:
    """Whether two columns hold the same."""
    if len(want) != len(found):
        return f"CHANGED: {len(found)} rows of {len(want)}"
    left, right = (values.combine_chunks() for values in (want, found))
    try:
        right = right.cast(left.type)
    except pa.ArrowInvalid as wrong:
        return f"CHANGED: {wrong}"
    if _text(left) == _text(right):
        return SAME
    if pa.types.is_timestamp(left.type) and _text(pc.floor_temporal(_zoneless(left), unit="microsecond")) == _text(
        _zoneless(right)
    ):
        return MICROS
    return f"CHANGED: {_text(left)} became {_text(right)}"


def _zoneless(values: pa.Array) -> pa.Array:
    return values.cast(pa.timestamp(values.type.unit))


def _text(values: pa.Array) -> str:
    if pa.types.is_nested(values.type):  # what lies under a NULL is nobody's business
        return repr(values.to_pylist())
    return " ".join(values.to_string(window=1000, container_window=1000).split())


def _refusal(reason: str) -> str:
    """The sentence of a refusal, without the names of this run."""
    short = re.sub(r"^.*?offset \d+: ", "", reason.split(" To put such rows aside", maxsplit=1)[0])
    short = re.sub(r"Column 'c\d+' is .*?, and ", "", re.sub(r"Column 'c\d+' does", "it does", short))
    return "refused: " + short.replace("|", "/")[:220]


# -- the page ---------------------------------------------------------------------------------------------------------


def check_page(found: Mapping[tuple[str, str], Mapping[str, str]], places: Sequence[str]) -> None:
    """Compare some columns of the page with what was found; with PRINT_TYPES=1 they are written."""
    told = _read()
    if os.environ.get("PRINT_TYPES"):
        for case in CASES:
            told.setdefault(case.key, {}).update(found[case.key])
        _write(told)
        return
    wrong = []
    for case in CASES:
        now, page = found[case.key], told.get(case.key, {})
        wrong += [
            f"{case.sql} {case.which}, {place}: {now.get(place)!r}, the page says {page.get(place)!r}"
            for place in places
            if now.get(place) != page.get(place)
        ]
    assert not wrong, "\n".join(wrong)


def _read() -> Cells:
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    notes = dict(re.findall(r"^(\d+)\. (.*)$", "\n".join(lines).replace("\n   ", " "), re.MULTILINE))
    found: Cells = {}
    for type_, which, *cells in rows:
        named = {place: _of_note(cell, notes) for place, cell in zip(COLUMNS, cells, strict=True) if cell}
        found[type_.strip("`").replace("\\", ""), which] = named
    return found


def _of_note(cell: str, notes: Mapping[str, str]) -> str:
    number = re.fullmatch(r"\*\*no\*\* \[(\d+)\]", cell)
    return notes[number[1]] if number else cell


def _write(told: Cells) -> None:
    notes: list[str] = []
    lines = [f"| type | values | {' | '.join(COLUMNS)} |", "|" + "---|" * (len(COLUMNS) + 2)]
    for case in CASES:
        cells = []
        for place in COLUMNS:
            cell = told[case.key].get(place, "")
            if cell not in {"", SAME, MICROS}:
                notes += [] if cell in notes else [cell]
                cell = f"**no** [{notes.index(cell) + 1}]"
            cells.append(cell)
        lines.append(f"| `{case.sql}` | {case.which} | {' | '.join(cells)} |")
    numbered = [
        fill(f"{n}. {note}", 120, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
        for n, note in enumerate(notes, 1)
    ]
    PAGE.write_text(_HEAD + "\n".join([*lines, "", *numbered, ""]))
