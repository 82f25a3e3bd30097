"""Nodes of a tree that sqlglot does not have."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp


class WindowTable(exp.Expression):
    """`TABLE(TUMBLE(TABLE t, DESCRIPTOR(time), INTERVAL …))`: rows of a table with the window that each is in.

    `this` is the table or subquery, `kind` one of TUMBLE, HOP, SESSION and CUMULATE, `time` an identifier,
    `intervals` stand in the order of their meaning: size; slide, size; gap; step, size; then an offset where
    one is given. `partition` are the identifiers of PARTITION BY.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "time": True,
        "intervals": True,
        "partition": False,
        "alias": False,
    }

    @property
    def kind(self) -> str:
        """TUMBLE, HOP, SESSION or CUMULATE."""
        return str(self.args["kind"])
