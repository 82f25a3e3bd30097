"""Lists in pages: a token says after which name the next page begins, so that names may come and go in between."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

from lakeward.rest.protocol.failures import bad_request

_PAGE_MAX = 10_000


def page_of(names: Sequence[str], query: Mapping[str, str]) -> tuple[list[str], str | None]:
    """The names of a page, in order, and the token of the next; all of them for who asks for no pages."""
    ordered = sorted(names)
    token = query.get("pageToken")
    if token is None:  # as the protocol says: who does not know of pages gets everything
        return ordered, None
    after = _after(token)
    rest = [name for name in ordered if name > after]
    size = _size(query.get("pageSize"))
    page = rest[:size]
    return page, _token(page[-1]) if len(rest) > size else None


def _size(text: str | None) -> int:
    if text is None:
        return _PAGE_MAX
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 31:
        raise bad_request(f"pageSize is '{text[:40]}'; it is a number from 1 on.")
    return min(int(text), _PAGE_MAX)


def _token(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _after(token: str) -> str:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise bad_request("pageToken is not one of this catalog.") from None
