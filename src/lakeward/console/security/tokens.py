"""Tokens: a visitor is a random cookie, and their forms carry what only this console can compute from it."""

from __future__ import annotations

import base64
import hmac
import re

from lakeward.runtime.entropy import Entropy

_BYTES = 32
_VISITOR = re.compile(r"[\w-]{43}")


class Tokens:
    """Makes and checks them, with a key that lives as long as the console."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._key = entropy.token(_BYTES)

    def new_visitor(self) -> str:
        """A cookie that nobody can guess."""
        return _text(self._entropy.token(_BYTES))

    def is_visitor(self, cookie: str) -> bool:
        """Whether a cookie looks like one of ours."""
        return _VISITOR.fullmatch(cookie) is not None

    def form_token(self, visitor: str) -> str:
        """What the forms of a visitor carry."""
        return _text(hmac.digest(self._key, visitor.encode(), "sha256"))

    def is_form_token(self, visitor: str, token: str) -> bool:
        """Whether a form was one of that visitor's."""
        return hmac.compare_digest(self.form_token(visitor).encode(), token.encode())


def _text(token: bytes) -> str:
    return base64.urlsafe_b64encode(token).decode().rstrip("=")
