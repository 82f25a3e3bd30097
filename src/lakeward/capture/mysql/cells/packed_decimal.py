"""Packed decimals of any length, one at a time: what has more digits than Arrow's decimals, or stands in JSON."""

from __future__ import annotations


def decimal_text(packed: bytes, whole: int, scale: int) -> str:
    """The decimal as the server writes it: `whole` digits before the point, `scale` after it."""
    negative = not packed[0] & 0x80
    plain = bytes([packed[0] ^ 0x80, *packed[1:]])
    if negative:
        plain = bytes(byte ^ 0xFF for byte in plain)
    digits, at = "", 0
    groups = [whole % 9, *[9] * (whole // 9), *[9] * (scale // 9), scale % 9]
    for size in groups:
        width = 4 if size == 9 else (size + 1) // 2
        if size:
            digits += str(int.from_bytes(plain[at : at + width], "big")).zfill(size)
        at += width
    number = digits[:whole].lstrip("0") or "0"
    return f"{'-' if negative else ''}{number}{'.' if scale else ''}{digits[whole:]}"
