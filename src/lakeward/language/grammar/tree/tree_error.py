"""TreeError: sqlglot's parser cannot go on, at which token and why."""

from __future__ import annotations

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token as TreeToken


class TreeError(ParseError):
    """What sqlglot raises, with the token instead of a drawing of the text; None is the end."""

    def __init__(self, message: str, token: TreeToken | None) -> None:
        super().__init__(message)
        self.token = token
