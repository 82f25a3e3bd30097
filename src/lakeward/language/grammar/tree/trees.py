"""Trees of a statement's parts: its query, an expression, or the whole of it."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token as TreeToken

from lakeward.language.grammar.dialect import ScriptDialect
from lakeward.language.grammar.text.hints import read_hint
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.tree.complaints import refuse_tree
from lakeward.language.grammar.tree.tree_error import TreeError
from lakeward.language.grammar.tree.tree_parser import TreeParser
from lakeward.language.grammar.tree.tree_tokens import tree_tokens
from lakeward.language.statements.statement import Options

#: The key of a tree's meta under which its text is.
TEXT = "text"
_DIALECT = ScriptDialect()


def read_query(reader: Reader) -> exp.Query:
    """The query that the rest of a statement is; VALUES is SELECT * FROM VALUES."""
    tree = _parse(reader, len(reader.piece.tokens), Parser._parse_statement)
    if isinstance(tree, exp.Values):
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree))
    if not isinstance(tree, exp.Query):
        reader.refuse(f"expected a query such as SELECT, WITH or VALUES, found {reader.next_label}.")
    reader.at = len(reader.piece.tokens)
    return tree


def read_expression(reader: Reader, end: int) -> exp.Expression:
    """The expression up to the token with that number; its meta has it as it was written."""
    tree = _parse(reader, end, Parser._parse_disjunction)
    assert isinstance(tree, exp.Expression)
    tokens = reader.piece.tokens
    tree.meta[TEXT] = reader.piece.script.text[tokens[reader.at].start : tokens[end - 1].end]
    reader.at = end
    return tree


def read_tree(reader: Reader) -> exp.Expression:
    """The whole statement as a tree."""
    tree = _parse(reader, len(reader.piece.tokens), Parser._parse_statement)
    assert isinstance(tree, exp.Expression)
    return tree


def _parse(reader: Reader, end: int, method: Callable[[Parser], exp.Expr | None]) -> exp.Expr:
    piece = reader.piece
    tokens = piece.tokens[reader.at : end]
    if not tokens:
        reader.refuse(f"expected an expression or a query, found {reader.next_label}.")
    base = piece.tokens[0].start

    def hint_options(hint: TreeToken) -> Options:
        return read_hint(piece.script, next(t for t in tokens if t.start == hint.start + base))

    try:
        return TreeParser(_DIALECT, hint_options).parse_one(method, tree_tokens(piece.script, tokens, base), piece.text)
    except TreeError as error:
        refuse_tree(reader, error, end)
    except RecursionError:
        reader.refuse("this is nested too deeply; expected fewer brackets, or parts of it in views.")
    except ValueError as error:
        # sqlglot's own, for literals in places where it expects others.
        reader.refuse(f"this cannot be read: {str(error).splitlines()[0]}")
