"""Functions of many rows, and those over windows of rows."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import Around, Number, form
from lakeward.language.functions.shape.function import Call, Function, Kind, same

#: Spark's own, which pass as they are; the planner must know them for what they are.
SPARK_AGGREGATES: Final = frozenset(
    """any approx_percentile approx_top_k bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg
    bool_and bool_or collect_list collect_set corr count_if count_min_sketch covar_pop covar_samp every first grouping
    grouping_id histogram_numeric hll_sketch_agg hll_union_agg kurtosis last max_by mean median min_by mode percentile
    percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev string_agg try_avg
    try_sum""".upper().split()
)
_NULLS_IGNORED: Final = (
    "NULLs are passed over, as in the guide's SQL. Which row is first is up to the order in which rows come."
)


def _aggregate(name: str, *arguments: str, differs: str = "", gives: Number | None = None) -> Function:
    return same(name, *arguments, differs=differs, kind=Kind.AGGREGATE, gives=gives)


def _ranking(name: str, *arguments: str) -> Function:
    return same(name, *arguments, kind=Kind.RANKING)


def _rewrite_array(call: Call) -> exp.Expression:
    """Each value in a row of its own, since collect_list passes over NULLs, but not over rows."""
    (value,) = call.arguments
    if isinstance(value, exp.IgnoreNulls):
        return form("collect_list({0})", [value.this])
    word = "DISTINCT " if isinstance(value, exp.Distinct) else ""
    plain = value.expressions[0] if isinstance(value, exp.Distinct) else value
    inner = form(f"collect_list({word}struct({{0}} AS item))", [plain])
    return Around(this="transform({0}, each -> each.item)", expressions=[inner])


AGGREGATES = (
    _aggregate("COUNT", "values…", gives=Number.WHOLE),
    _aggregate(
        "SUM", "value", differs="Whole numbers add up to a BIGINT; beyond that it fails, where Flink's goes round."
    ),
    _aggregate(
        "AVG",
        "value",
        gives=Number.FRACTION,
        differs="The mean of whole numbers is a DOUBLE; Flink cuts it to a whole number.",
    ),
    _aggregate("MIN", "value"),
    _aggregate("MAX", "value"),
    Function(
        name="LISTAGG",
        forms={"value": "listagg({value}, ',')", "value, separator": "listagg({value}, {separator})"},
        kind=Kind.AGGREGATE,
        differs="Texts are parted by `,` where nothing is said; Spark's own by nothing.",
    ),
    Function(
        name="COLLECT",
        forms={"value": "collect_list({value})"},
        kind=Kind.AGGREGATE,
        differs="An ARRAY with all values; Flink's is a MULTISET, which Spark does not have.",
    ),
    Function(
        name="ARRAY_AGG",
        forms={"value": "transform(collect_list(struct({value} AS item)), each -> each.item)"},
        rewrite=_rewrite_array,
        kind=Kind.AGGREGATE,
        differs="NULLs are kept; Spark's own passes over them. No rows give an empty array.",
    ),
    Function(
        name="FIRST_VALUE",
        forms={"value": "first_value({value}, TRUE)"},
        kind=Kind.AGGREGATE,
        differs=_NULLS_IGNORED,
    ),
    Function(
        name="LAST_VALUE", forms={"value": "last_value({value}, TRUE)"}, kind=Kind.AGGREGATE, differs=_NULLS_IGNORED
    ),
    _aggregate("ANY_VALUE", "value"),
    *(_aggregate(name, "value") for name in ("STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VARIANCE")),
    _aggregate("APPROX_COUNT_DISTINCT", "value"),
    _aggregate("PERCENTILE", "value, share"),
    *(_ranking(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")),
    _ranking("NTILE", "buckets"),
    *(_ranking(name, "value", "value, offset", "value, offset, default") for name in ("LAG", "LEAD")),
)
