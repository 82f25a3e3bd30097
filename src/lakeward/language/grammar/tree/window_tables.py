"""WindowTables: the part of the parser that reads TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), INTERVAL …))."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.grammar.tree.strict_clauses import StrictClauses

#: The intervals of each window, in the order of their meaning; those in front of OFFSET must be there.
WINDOWS = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
}


class WindowTables(StrictClauses):
    """Reads window tables, with arguments by place or by name."""

    def _parse_window_table(self) -> WindowTable | None:
        index = self._index
        is_wrapped = self._match_pair(TokenType.TABLE, TokenType.L_PAREN)
        kind = self._curr.text.upper() if self._match_texts(WINDOWS, advance=False) else ""
        if not kind or self._next.token_type is not TokenType.L_PAREN:
            self._retreat(index)
            return None
        self._advance(2)
        if not is_wrapped and self._curr.token_type is not TokenType.TABLE and self._next.text != "=>":
            self._retreat(index)
            return None
        node = WindowTable(kind=kind, partition=[])
        self._parse_window_arguments(node)
        self._match_r_paren()
        if is_wrapped:
            self._match_r_paren()
        node.set("alias", self._parse_table_alias())
        return self.expression(node)

    def _parse_window_arguments(self, node: WindowTable) -> None:
        names = WINDOWS[node.kind]
        intervals: dict[str, exp.Expr] = {}
        while True:
            name = ""
            if self._next.text == "=>":
                name = self._curr.text.upper()
                if name not in ("DATA", "TIMECOL", *names):
                    self.raise_error(f"Expected {', '.join(('DATA', 'TIMECOL', *names))} in {node.kind}")
                self._advance(2)
            if name == "DATA" or (not name and "this" not in node.args):
                self._parse_window_input(node)
            elif self._match_text_seq("DESCRIPTOR"):
                columns = self._parse_wrapped_id_vars()
                if "time" in node.args:
                    node.set("partition", columns)
                elif len(columns) == 1:
                    node.set("time", columns[0])
                else:
                    self.raise_error("Expected one column in DESCRIPTOR")
            elif "time" not in node.args and not name:
                self.raise_error("Expected DESCRIPTOR(column)")
            else:
                name = name or next((n for n in names if n not in intervals), "")
                interval = self._parse_disjunction()
                if not name or not interval:
                    self.raise_error(f"Expected {' and '.join(names)} of {node.kind}, and no more")
                else:
                    intervals[name] = interval
            if not self._match(TokenType.COMMA):
                break
        self._check_window(node, intervals)

    def _check_window(self, node: WindowTable, intervals: dict[str, exp.Expr]) -> None:
        names = WINDOWS[node.kind]
        if "this" not in node.args:
            self.raise_error(f"Expected TABLE name as the data of {node.kind}")
        if "time" not in node.args:
            self.raise_error("Expected DESCRIPTOR(column)")
        missing = [name for name in names if name not in intervals and name != "OFFSET"]
        if missing:
            self.raise_error(f"Expected the {missing[0].lower()} of {node.kind} as an INTERVAL")
        node.set("intervals", [intervals[name] for name in names if name in intervals])

    def _parse_window_input(self, node: WindowTable) -> None:
        """TABLE t, TABLE (SELECT …) or (SELECT …), each with PARTITION BY columns."""
        is_named = self._match(TokenType.TABLE)
        if self._match(TokenType.L_PAREN, advance=False):
            node.set("this", self._parse_select(table=True, parse_subquery_alias=False))
        elif is_named:
            node.set("this", self._parse_table_parts())
        else:
            self.raise_error(f"Expected TABLE name as the data of {node.kind}")
        if self._match(TokenType.PARTITION_BY):
            is_wrapped = self._match(TokenType.L_PAREN, advance=False)
            node.set("partition", self._parse_wrapped_id_vars() if is_wrapped else [self._parse_id_var()])
            # Without brackets the next argument ends the list: it is DESCRIPTOR( or a name before =>.
            while not is_wrapped and self._match(TokenType.COMMA, advance=False) and not self._at_argument():
                self._advance()
                node.append("partition", self._parse_id_var())

    def _at_argument(self) -> bool:
        """Whether what follows the comma is an argument, and no more columns."""
        behind = self._tokens[self._index + 2] if self._index + 2 < len(self._tokens) else None
        return behind is not None and (behind.text == "=>" or behind.token_type is TokenType.L_PAREN)
