"""StrictClauses: the part of the parser that refuses what sqlglot lets pass: lists and clauses with nothing in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token as TreeToken
from sqlglot.tokenizer_core import TokenType

from lakeward.language.grammar.text.hints import is_options_hint
from lakeward.language.grammar.tree.tree_error import TreeError

_T = TypeVar("_T")
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_UNITS_SMALL = ("MILLISECOND", "MICROSECOND", "NANOSECOND")
_KNOWN_UNITS = {name for unit in (*_UNITS, *_UNITS_SMALL) for name in (unit, f"{unit}S")}
_PREDICATES = (exp.Between, exp.In, exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo, exp.Is, exp.Not)


class StrictClauses(SparkParser):
    """Spark's parser of sqlglot, less lenient."""

    #: A script has no parameters; `v:a` would be the column v with a parameter as its alias.
    PLACEHOLDER_PARSERS: ClassVar[dict[TokenType, Any]] = {}
    PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
        kind: parse
        for kind, parse in SparkParser.PRIMARY_PARSERS.items()
        if kind not in {TokenType.PARAMETER, TokenType.SESSION_PARAMETER}
    }

    #: An arrow is a lambda's, and not a path into JSON.
    COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {
        kind: SparkParser.COLUMN_OPERATORS[kind] for kind in (TokenType.DOT, TokenType.DCOLON)
    }

    def raise_error(self, message: str, token: TreeToken | None = None) -> NoReturn:
        """Raise with the token; sqlglot's own way draws the text in colours."""
        raise TreeError(message, token or self._curr or None)

    def _parse_as_command(self, start: TreeToken) -> NoReturn:
        """Refuse what sqlglot would pass on unread, with a warning."""
        self.raise_error("Invalid expression", start)

    def _parse_pipe_syntax_query(self, query: exp.Query) -> NoReturn:  # noqa: ARG002 - sqlglot's signature
        """Refuse what sqlglot would write anew: Spark reads `|>` as it stands."""
        self.raise_error("Invalid expression")

    def _parse_hint(self) -> exp.Hint | None:
        hint = self._curr
        if hint.token_type is TokenType.HINT and is_options_hint(hint.text):
            self.raise_error("Expected OPTIONS(…) behind a table's name, not behind SELECT")
        try:
            return super()._parse_hint()
        except SqlglotError:
            self.raise_error("Expected a hint such as BROADCAST(t)", hint)

    def _parse_csv(self, parse_method: Callable[[], _T | None], sep: TokenType = TokenType.COMMA) -> list[_T]:
        def parse() -> _T | None:
            found = parse_method()
            if found is None and self._match(TokenType.COMMA, advance=False):
                self.raise_error("Expected something before ','")
            return found

        items = super()._parse_csv(parse, sep)
        if items and self._prev.token_type is TokenType.COMMA:
            self.raise_error("Expected something after ','")
        return items

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        projections, exclude = super()._parse_projections()
        if not projections:
            self.raise_error("Expected '*' or a column after SELECT")
        return projections, exclude

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """A row of VALUES; ROW(1, 2) is (1, 2)."""
        if self._match_pair(TokenType.ROW, TokenType.L_PAREN, advance=False):
            self._advance()
        return super()._parse_value(values)

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> exp.Expr | None:
        """A predicate at the right of a comparison gets brackets: Spark binds `a = b IN (1)` the other way round."""
        before = self._prev.token_type if this is None else None
        found = super()._parse_range(this, parse_is)
        is_operand = before in self.EQUALITY or before in self.COMPARISON
        return exp.Paren(this=found) if is_operand and isinstance(found, _PREDICATES) else found

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        group = super()._parse_group(skip_group_by_token)
        if group is not None and not any(group.args.values()):
            self.raise_error("Expected a column after GROUP BY")
        return group

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        """ROLLUP and CUBE of any expressions; sqlglot knows those without a comparison."""
        kind = exp.Cube if self._match(TokenType.CUBE) else exp.Rollup if self._match(TokenType.ROLLUP) else None
        if kind is None:
            return None
        return self.expression(
            kind(expressions=[] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction))
        )

    def _parse_case(self) -> exp.Expr | None:
        """CASE x WHEN 1, 2 THEN …, which sqlglot does not know: a WHEN for each value of the list."""
        if self._match(TokenType.DOT, advance=False):
            return super()._parse_case()
        compared = self._parse_disjunction()
        branches: list[exp.If] = []
        while self._match(TokenType.WHEN):
            values = self._parse_csv(self._parse_disjunction) if compared is not None else [self._parse_disjunction()]
            if not self._match(TokenType.THEN):
                self.raise_error("Expected THEN after WHEN")
            then = self._parse_disjunction()
            branches += (self.expression(exp.If(this=value, true=then and then.copy())) for value in values)
        default = self._parse_disjunction() if self._match(TokenType.ELSE) else None
        if not self._match(TokenType.END):
            self.raise_error("Expected END after CASE", self._prev)
        return self.expression(exp.Case(this=compared, ifs=branches, default=default))

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        if self._match(TokenType.COMMA):
            # sqlglot would try this, and hide what is wrong with the table.
            return self.expression(exp.Join(this=self._parse_table(), kind="CROSS"))
        join = super()._parse_join(*args, **kwargs)
        if self._prev.token_type is TokenType.ON:
            self.raise_error("Expected a condition after ON")
        return join

    def _parse_version(self) -> exp.Version | None:
        version = super()._parse_version()
        if version is not None and version.expression is None:
            self.raise_error("Expected a time after AS OF")
        return version

    def _parse_update(self) -> exp.Update:
        update = super()._parse_update()
        if not update.expressions:
            self.raise_error("Expected SET column = value")
        return update

    def _parse_interval_span(self, this: exp.Expr, parse_function_unit: bool = True) -> exp.Interval:
        interval = super()._parse_interval_span(this, parse_function_unit)
        unit = interval.args.get("unit")
        if isinstance(unit, exp.Var) and unit.name.upper() not in _KNOWN_UNITS:
            self.raise_error("Expected a unit such as SECOND", self._prev)
        if unit is None and this.is_string and this.name.strip().isdecimal():
            self.raise_error("Expected a unit such as SECOND")
        return interval
