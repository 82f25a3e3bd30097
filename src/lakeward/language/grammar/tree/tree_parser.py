"""TreeParser: Spark's parser of sqlglot that leaves functions as they are written, and knows streaming tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token as TreeToken
from sqlglot.tokenizer_core import TokenType

from lakeward.language.grammar.tree.tree_error import TreeError
from lakeward.language.grammar.tree.window_tables import WindowTables
from lakeward.language.statements.statement import Options

#: Functions with words between their arguments; without such a word they are called as any other.
_WORDS = {
    "CEIL": {"TO"},
    "FLOOR": {"TO"},
    "JSON_ARRAY": {"ON"},
    "JSON_ARRAYAGG": {"ON"},
    "JSON_EXISTS": {"ON"},
    "JSON_OBJECT": {"KEY", "VALUE", ":"},
    "JSON_OBJECTAGG": {"KEY", "VALUE", ":"},
    "JSON_QUERY": {"ON", "RETURNING", "WITH", "WITHOUT"},
    "JSON_VALUE": {"RETURNING", "ON"},
    "OVERLAY": {"PLACING"},
    "POSITION": {"IN"},
    "SUBSTRING": {"FROM"},
    "TRIM": {"FROM"},
}
#: Those whose words follow all arguments.
_TRAILING = ("JSON_ARRAY", "JSON_ARRAYAGG", "JSON_EXISTS", "JSON_QUERY")
_WORDED: dict[str, Callable[[Any], exp.Expr]] = {
    **{name: parse for name, parse in Parser.FUNCTION_PARSERS.items() if name in _WORDS},
    **dict.fromkeys(_TRAILING, lambda self: self.parse_trailing_words()),
    "JSON_VALUE": lambda self: self._parse_json_value(json_path=False),
}
_BARE: tuple[str, ...] = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER")
_BARE += ("LOCALTIME", "LOCALTIMESTAMP", "CURRENT_CATALOG")


def _bare(name: str) -> Callable[[], exp.Anonymous]:
    return lambda: exp.Anonymous(this=name, expressions=[])


def _with_words(name: str) -> Callable[[Any], exp.Expr]:
    return lambda self: self.parse_worded(name)


class TreeParser(WindowTables):
    """Text → tree: a function is exp.Anonymous, a hint is meta["options"] of its table."""

    ADD_JOIN_ON_TRUE = False
    SUPPORTS_TABLE_QUERY = True
    #: Or array(1, 2)[0] would be a new array.
    ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}
    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        **{name: Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")},
        **{name: _with_words(name) for name in _WORDS},
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: Parser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE")
    }
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Callable[..., Any]]] = {TokenType[name]: _bare(name) for name in _BARE}
    FUNC_TOKENS: ClassVar[set[TokenType]] = {*WindowTables.FUNC_TOKENS, *NO_PAREN_FUNCTIONS, TokenType.SESSION}

    def __init__(self, dialect: Dialect, hint_options: Callable[[TreeToken], Options]) -> None:
        super().__init__(dialect=dialect)
        self._hint_options = hint_options

    def parse_one(self, method: Callable[[Parser], exp.Expr | None], tokens: list[TreeToken], sql: str) -> exp.Expr:
        """The one tree that all tokens make."""
        tree = self._parse(method, tokens, sql)[0]
        if tree is None:
            raise TreeError("Expected an expression", tokens[0] if tokens else None)
        return tree

    def parse_worded(self, name: str) -> exp.Expr:
        """A function that has words between its arguments, or else commas as any other."""
        words, depth, at = _WORDS[name], 0, self._index
        while depth >= 0 and at < len(self._tokens):
            token = self._tokens[at]
            if not depth and token.token_type is not TokenType.STRING and token.text.upper() in words:
                return _WORDED[name](self)
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            at += 1
        called = self._tokens[self._index - 2]
        call = exp.Anonymous(this=called.text, expressions=self._parse_function_args(alias=True))
        return call.update_positions(called)

    def parse_trailing_words(self) -> exp.Expr:
        """JSON_QUERY(a, b WITH WRAPPER): the words behind the arguments are one more argument, an exp.Var."""
        called = self._tokens[self._index - 2]
        arguments = self._parse_csv(self._parse_disjunction)
        words: list[str] = []
        while self._curr and self._curr.token_type is not TokenType.R_PAREN:
            words.append(self._curr.text.upper())
            self._advance()
        call = exp.Anonymous(this=called.text, expressions=[*arguments, exp.Var(this=" ".join(words))])
        return call.update_positions(called)

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if kwargs.get("check_func") or not self._match_pair(TokenType.ROW, TokenType.L_PAREN):
            # Spark's own makes every CHAR(n) a STRING.
            type_ = Parser._parse_types(self, *args, **kwargs)
            if type_ is not None and not kwargs.get("check_func"):
                self._match_pair(TokenType.NOT, TokenType.NULL)
            return type_
        fields = self._parse_csv(lambda: self._parse_struct_types(type_required=True))
        self._match_r_paren()
        return self.expression(exp.DataType(this=exp.DType.STRUCT, expressions=fields, nested=True))

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """`ARRAY[…]` and `MAP[…]` are the calls ARRAY(…) and MAP(…)."""
        word = self._prev
        is_made = isinstance(this, exp.Column) and not this.table and word.text.upper() in {"ARRAY", "MAP"}
        if not is_made or word.token_type is TokenType.IDENTIFIER or not self._match(TokenType.L_BRACKET):
            return super()._parse_bracket(this)
        elements = self._parse_csv(self._parse_disjunction)
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("Expecting ]")
        call = exp.Anonymous(this=word.text.upper(), expressions=elements).update_positions(word)
        return self._parse_bracket(call)

    def _parse_table_parts(self, *args: Any, **kwargs: Any) -> exp.Table | exp.Dot | None:
        table = super()._parse_table_parts(*args, **kwargs)
        if table is not None and isinstance(table.this, exp.Dot):
            self.raise_error("Expected [catalog.][database.]name, which is three names at most", self._prev)
        if table is not None and self._match(TokenType.HINT):
            table.meta["options"] = self._hint_options(self._prev)
        return table

    def _parse_table_alias(self, alias_tokens: Collection[TokenType] | None = None) -> exp.TableAlias | None:
        """A hint and FOR SYSTEM_TIME may follow the alias, too."""
        alias = super()._parse_table_alias(alias_tokens)
        if alias is None:
            return None
        if self._match(TokenType.HINT):
            alias.meta["options"] = self._hint_options(self._prev)
        if self._match_text_seq("FOR", "SYSTEM_TIME", advance=False):
            alias.meta["version"] = self._parse_version()
        return alias

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        table = self._parse_window_table() or super()._parse_table(*args, **kwargs)
        alias = table.args.get("alias") if table is not None else None
        if table is not None and isinstance(alias, exp.TableAlias):
            if "options" in alias.meta:
                table.meta["options"] = alias.meta.pop("options")
            if "version" in alias.meta:
                table.set("version", alias.meta.pop("version"))
        return table
