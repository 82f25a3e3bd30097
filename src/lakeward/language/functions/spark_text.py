"""spark_text: Spark SQL of a translated tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.generators.spark import SparkGenerator

from lakeward.language.functions.shape.form import HOLE, Around, SparkForm
from lakeward.language.functions.shape.types import spark_type

#: What needs no parentheses, whatever stands beside it.
_CLOSED: Final = (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Null, exp.Boolean, exp.Identifier, SparkForm)
_OWN: Final = (exp.TableAlias, exp.Star, exp.Distinct)
#: What sqlglot does to whole queries for Spark; our trees need none of it, and it costs copies.
_NOT_REWRITTEN: Final = {exp.Select}


def spark_text(tree: exp.Expr) -> str:
    """Spark SQL of a tree that `to_spark` has translated."""
    return str(_SparkText(dialect="spark", identify=True, comments=False).generate(tree, copy=False))


def _fill(generator: Generator, node: SparkForm) -> str:
    """The text of a form with its holes filled; in parentheses where an operator stands beside the hole."""
    template = node.this

    def hole(found: re.Match[str]) -> str:
        index = int(found.group(1))
        if found.group(2):
            return ", ".join(generator.sql(argument) for argument in node.expressions[index:])
        argument = node.expressions[index]
        text = generator.sql(argument)
        closed = isinstance(argument, _CLOSED + _OWN) and not isinstance(argument, exp.Binary)
        return text if closed or _is_alone(template, found) else f"({text})"

    return HOLE.sub(hole, template)


def _is_alone(template: str, found: re.Match[str]) -> bool:
    """Whether a hole is a whole argument of a function."""
    before, after = template[: found.start()].rstrip(), template[found.end() :].lstrip()
    return before.endswith(("(", ",")) and after.startswith((")", ","))


def _call(generator: Generator, node: exp.Anonymous) -> str:
    """A function by the name that was written: in backticks where it is no plain word."""
    name = node.name if node.name.replace("_", "").isalnum() else f"`{node.name}`"
    return f"{name}({', '.join(generator.sql(argument) for argument in node.expressions)})"


def _literal(_: Generator, node: exp.Literal) -> str:
    """A number as written; a text with what Spark reads as an escape written twice."""
    if not node.is_string:
        return str(node.this)
    escaped = node.name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _cast(generator: Generator, node: exp.Cast) -> str:
    word = "TRY_CAST" if node.args.get("safe") else "CAST"
    return f"{word}({generator.sql(node, 'this')} AS {generator.sql(node, 'to')})"


class _SparkText(SparkGenerator):
    """Spark's generator without the rewriting of functions: what stands in the tree is what is printed."""

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        **{kind: how for kind, how in SparkGenerator.TRANSFORMS.items() if kind not in _NOT_REWRITTEN},
        SparkForm: _fill,
        Around: _fill,
        exp.Anonymous: _call,
        exp.Literal: _literal,
        exp.DataType: lambda _, node: spark_type(node),
        exp.TryCast: _cast,
        exp.Cast: _cast,
    }
