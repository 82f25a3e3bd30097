"""ScriptDialect: the language of scripts for sqlglot."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark


class ScriptDialect(Spark):
    """Spark's SQL as sqlglot has it; a text is written as scripts have it. `tree` reads with a parser of its own."""

    class Tokenizer(Spark.Tokenizer):
        """A quote inside a text is written twice, and a backslash stands for itself."""

        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
