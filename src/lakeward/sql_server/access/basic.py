"""Name and password as HTTP's `Basic` has them."""

from __future__ import annotations

import base64
import binascii


def read_basic(text: str) -> tuple[str, str] | None:
    """Name and password; None for what cannot be read. Some drivers (Go's) leave the padding out."""
    text = text.strip()
    try:
        known = base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    user, colon, password = known.partition(":")
    return (user, password) if colon else None
