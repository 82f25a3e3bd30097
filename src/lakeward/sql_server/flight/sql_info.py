"""What the server says of itself and of its SQL, by the numbers that Flight SQL has for it."""

from __future__ import annotations

import pyarrow as pa

from lakeward.runtime.version import VERSION


class Mask(int):
    """A number whose bits mean something."""


class Count(int):
    """A number that is one, and no yes or no."""


_NONE = Count(0)
_FUNCTIONS = {
    508: ["AT", "LIMIT", "OFFSET", "QUALIFY", "PIVOT", "UNPIVOT", "SAMPLE"],
    509: ["ABS", "CEILING", "EXP", "FLOOR", "LOG", "MOD", "POWER", "ROUND", "SIGN", "SQRT"],
    510: ["CONCAT", "LCASE", "LEFT", "LENGTH", "LTRIM", "REPLACE", "RIGHT", "RTRIM", "SUBSTRING", "UCASE"],
    511: ["IFNULL", "USER"],
    512: ["CURDATE", "DAYOFMONTH", "EXTRACT", "HOUR", "MINUTE", "MONTH", "NOW", "QUARTER", "SECOND", "WEEK", "YEAR"],
}
#: Number → text, yes or no, number, bits, or list of texts. JDBC's driver fails where one is missing that it wants.
INFO: dict[int, object] = {
    0: "Lakeward",
    1: VERSION,
    2: "1.3",
    3: True,  # it only reads
    4: True,
    5: False,
    8: _NONE,  # no transactions
    9: True,  # what runs can be cancelled
    100: _NONE,
    101: _NONE,
    **dict.fromkeys((500, 501, 502), False),  # nothing is created
    503: Count(3),  # names keep their case, however they are written
    504: '"',
    505: Count(3),
    506: True,
    507: Count(3),  # NULL comes last
    **_FUNCTIONS,
    513: "\\",
    514: "",
    **dict.fromkeys((515, 516, 518, 520, 521, 523, 524, 539), True),
    519: False,
    522: Mask(3),
    525: Mask(3),
    526: Mask(1),
    527: False,
    517: {},
    528: Mask(7),  # every outer join
    529: "schema",
    530: "procedure",
    531: "catalog",
    532: True,
    533: Mask(0),
    534: Mask(0),
    535: Mask(0),
    536: False,
    537: False,
    538: Mask(15),
    540: Mask(3),
    **dict.fromkeys((*range(541, 556), *range(557, 562)), _NONE),  # no bounds that are known
    556: False,
    562: _NONE,
    563: False,
    564: Mask(0),
    565: False,
    566: False,
    567: Mask(2),  # rows come once, in order
    **dict.fromkeys((568, 569, 570), Mask(0)),
    **dict.fromkeys(range(571, 577), False),
}
_KINDS: tuple[type, ...] = (str, bool, Count, Mask, list, dict)
_UNION = (
    pa.field("string_value", pa.string()),
    pa.field("bool_value", pa.bool_()),
    pa.field("bigint_value", pa.int64()),
    pa.field("int32_bitmask", pa.int32()),
    pa.field("string_list", pa.list_(pa.string())),
    pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
)


def sql_info(wanted: list[int]) -> pa.Table:
    """What is asked for by number; everything where no number is given."""
    numbers = [number for number in INFO if not wanted or number in wanted]
    values = [INFO[number] for number in numbers]
    children: list[list[object]] = [[] for _ in _UNION]
    kinds, offsets = [], []
    for value in values:
        kind = next(at for at, kinds in enumerate(_KINDS) if isinstance(value, kinds))
        kinds.append(kind)
        offsets.append(len(children[kind]))
        children[kind].append(value)
    union = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(child, field.type) for child, field in zip(children, _UNION, strict=True)],
        [field.name for field in _UNION],
    )
    schema = pa.schema(
        [pa.field("info_name", pa.uint32(), nullable=False), pa.field("value", union.type, nullable=False)]
    )
    return pa.Table.from_arrays([pa.array(numbers, pa.uint32()), union], schema=schema)
