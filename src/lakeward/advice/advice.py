"""Advice: one thing to change about a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change: the rule, the figure that it is about, why, and the command or property."""

    rule: str
    figure: str
    advice: str
    reason: str
    command: str
