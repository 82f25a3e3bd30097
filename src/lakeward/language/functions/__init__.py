"""Functions, types, operators and literals: what a script writes → what Spark does.

| module | what it holds |
|---|---|
| to_spark | a tree → a tree of Spark's |
| spark_text | such a tree → Spark SQL |
| table | all rows by name; which are aggregates, windows, not deterministic |
| rows | the rows, by what they are about |
| shape | what a row is |
| reference | the printed page of rows and types |
| syntax | CAST, EXTRACT, a / b, a[1]: which row each is |
"""

from lakeward.language.functions.shape.types import spark_type
from lakeward.language.functions.spark_text import spark_text
from lakeward.language.functions.table import FUNCTIONS, is_aggregate, is_deterministic, is_window_function
from lakeward.language.functions.to_spark import to_spark

__all__ = [
    "FUNCTIONS",
    "is_aggregate",
    "is_deterministic",
    "is_window_function",
    "spark_text",
    "spark_type",
    "to_spark",
]
