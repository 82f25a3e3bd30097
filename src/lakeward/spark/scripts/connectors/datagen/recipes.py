"""What is made up for each column: read once from type and options, with everything that is wrong refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.options.option import invalid_value
from lakeward.spark.scripts.connectors.datagen import datagen_options as rows

_WHOLE_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
_FRACTION_MAX = {TypeRoot.FLOAT: 3.4028234663852886e38, TypeRoot.DOUBLE: 1.7976931348623157e308}
_TEXTS = {TypeRoot.CHAR, TypeRoot.STRING}
_BYTES = {TypeRoot.BINARY, TypeRoot.BYTES}
_FIXED = {TypeRoot.CHAR, TypeRoot.BINARY}
_MOMENTS = {TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_LENGTH_DEFAULT, _ENTRIES_DEFAULT = 100, 3
_NUMBERS = {rows.MIN.key, rows.MAX.key, rows.START.key, rows.END.key}
#: More digits than any number here has.
_EXACT = Context(prec=400)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the values of a column, or of a part of one, are made up."""

    path: str
    """The name of the column, and of the parts within it."""
    type: DataType
    null_rate: float = 0.0
    start: int | None = None
    """Where the sequence begins; None: random."""
    end: int | None = None
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)
    """The bounds of a number, in units of its last digit unless it is a fraction."""
    max_past_ms: int = 0
    length: int = 0
    varies: bool = False
    inner: tuple[Recipe, ...] = ()

    @property
    def count(self) -> int | None:
        """How many rows there can be."""
        return None if self.start is None or self.end is None else max(0, self.end - self.start + 1)


def recipes_of(columns: Iterable[tuple[str, DataType]], options: Mapping[str, str]) -> tuple[Recipe, ...]:
    """The recipes of all columns; options of fields that there are not are refused."""
    given = {k.removeprefix(rows.FIELDS_PREFIX): v for k, v in options.items() if k.startswith(rows.FIELDS_PREFIX)}
    found = tuple(_recipe(name, type_, given) for name, type_ in columns)
    known = {path for recipe in found for path in _paths(recipe)}
    for key in given:
        path, _, attribute = key.rpartition(".")
        if path not in known:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.FIELDS_PREFIX}{key}': there is no field '{path}'; the fields are {', '.join(sorted(known))}."
            )
        if attribute not in rows.FIELD_OPTIONS.rows:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.FIELDS_PREFIX}{key}': '{attribute}' is nothing that a field can be told; it can be told"
                f" {', '.join(rows.FIELD_OPTIONS.rows)}."
            )
    return found


def rows_in_all(recipes: Iterable[Recipe], number_of_rows: int | None) -> int | None:
    """How many rows there are; None: they do not end."""
    counts = [recipe.count for recipe in recipes]
    return min((count for count in (*counts, number_of_rows) if count is not None), default=None)


def _paths(recipe: Recipe) -> Iterable[str]:
    yield recipe.path
    for inner in recipe.inner:
        yield from _paths(inner)


def _recipe(path: str, type_: DataType, given: Mapping[str, str]) -> Recipe:
    own = {k.removeprefix(f"{path}."): v for k, v in given.items() if k.rpartition(".")[0] == path}
    own = {key: value for key, value in own.items() if key in rows.FIELD_OPTIONS.rows}
    for key, value in own.items():
        try:
            rows.FIELD_OPTIONS.rows[key].kind.parse(value)
        except (ValueError, OverflowError) as wrong:
            raise invalid_value(f"{rows.FIELDS_PREFIX}{path}.{key}", value, wrong) from wrong
    _check_fit(path, type_, own)
    null_rate = rows.NULL_RATE.read(own)
    if null_rate and not type_.nullable:
        raise _wrong(path, f"a column that is NOT NULL cannot have '{rows.NULL_RATE.key}'")
    start, end = _sequence(path, type_, own)
    low, high = _bounds(path, type_, own)
    return Recipe(
        path,
        type_,
        null_rate,
        start,
        end,
        low,
        high,
        rows.MAX_PAST.read(own),
        _length(path, type_, own),
        rows.VAR_LEN.read(own),
        tuple(_recipe(f"{path}.{name}", inner, given) for name, inner in _parts(type_)),
    )


def _parts(type_: DataType) -> Iterable[tuple[str, DataType]]:
    if type_.element is not None:
        yield "element", type_.element
    if type_.key is not None and type_.value is not None:
        yield "key", type_.key.not_null()
        yield "value", type_.value
    for field in type_.fields:
        yield field.name, field.type


def _check_fit(path: str, type_: DataType, own: Mapping[str, str]) -> None:
    """Refuse what means nothing to a type: it would silently do nothing."""
    root = type_.root
    fitting = {rows.NULL_RATE.key, rows.KIND.key}
    if is_number(type_):
        fitting |= _NUMBERS
    elif root in _TEXTS:
        fitting |= {rows.START.key, rows.END.key, rows.LENGTH.key, rows.VAR_LEN.key}
    elif root in _BYTES:
        fitting |= {rows.LENGTH.key, rows.VAR_LEN.key}
    elif root in _MOMENTS:
        fitting.add(rows.MAX_PAST.key)
    elif root in {TypeRoot.ARRAY, TypeRoot.MAP}:
        fitting.add(rows.LENGTH.key)
    for key in own:
        if key not in fitting:
            raise _wrong(path, f"'{key}' means nothing for the type {type_.as_nullable()}")


def is_number(type_: DataType) -> bool:
    """Whether it has bounds."""
    return type_.root in _WHOLE_BITS or type_.root in _FRACTION_MAX or type_.root is TypeRoot.DECIMAL


def _sequence(path: str, type_: DataType, own: Mapping[str, str]) -> tuple[int | None, int | None]:
    start, end = rows.START.read(own), rows.END.read(own)
    if rows.KIND.read(own) == "random":
        if start is not None or end is not None:
            raise _wrong(path, "'start' and 'end' belong to a sequence: set 'kind' to 'sequence'")
        return None, None
    if not is_number(type_) and type_.root not in _TEXTS:
        raise _wrong(path, f"there is no sequence of {type_.as_nullable()}; leave 'kind' out")
    if start is None or end is None:
        raise _wrong(path, "a sequence needs 'start' and 'end'")
    low, high = _type_bounds(type_)
    if (type_.root not in _TEXTS and not low <= start <= high) or (not end <= high and type_.root not in _TEXTS):
        raise _wrong(path, f"the sequence from {start} to {end} does not fit into {type_.as_nullable()}")
    return start, end


def _bounds(path: str, type_: DataType, own: Mapping[str, str]) -> tuple[Decimal, Decimal]:
    least, most = _type_bounds(type_)
    low, high = _number(path, rows.MIN.key, own, least), _number(path, rows.MAX.key, own, most)
    if low < least or high > most:
        raise _wrong(path, f"{low} … {high} does not fit into {type_.as_nullable()}")
    if low > high:
        raise _wrong(path, f"'min' ({low}) is above 'max' ({high})")
    if type_.root in _FRACTION_MAX or not is_number(type_):
        return low, high
    scale = type_.scale or 0
    units = low.scaleb(scale, _EXACT), high.scaleb(scale, _EXACT)
    first, last = units[0].to_integral_value(ROUND_CEILING, _EXACT), units[1].to_integral_value(ROUND_FLOOR, _EXACT)
    if first > last:
        raise _wrong(path, f"there is no {type_.as_nullable()} from {low} to {high}")
    return first, last


def _number(path: str, key: str, own: Mapping[str, str], default: Decimal) -> Decimal:
    if key not in own:
        return default
    try:
        found = Decimal(own[key].strip())
    except InvalidOperation:
        found = Decimal("nan")
    if not found.is_finite():
        raise _wrong(path, f"'{key}' is '{own[key]}', which is no number")
    return found


def _type_bounds(type_: DataType) -> tuple[Decimal, Decimal]:
    root = type_.root
    if root in _WHOLE_BITS:
        half = 1 << (_WHOLE_BITS[root] - 1)
        return Decimal(-half), Decimal(half - 1)
    if root in _FRACTION_MAX:
        most = Decimal(_FRACTION_MAX[root])
        return most.copy_negate(), most
    if root is TypeRoot.DECIMAL:
        most = Decimal((0, (9,) * (type_.precision or 0), -(type_.scale or 0)))
        return most.copy_negate(), most
    return Decimal(0), Decimal(0)


def _length(path: str, type_: DataType, own: Mapping[str, str]) -> int:
    given = rows.LENGTH.read(own)
    if type_.root in _FIXED:
        if given is not None and given != type_.length:
            raise _wrong(path, f"the length of {type_.as_nullable()} is part of its type; leave 'length' out")
        return type_.length or 1
    if type_.root in {TypeRoot.ARRAY, TypeRoot.MAP}:
        return given or _ENTRIES_DEFAULT
    return given or _LENGTH_DEFAULT


def _wrong(path: str, why: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"Field '{path}': {why}.")
