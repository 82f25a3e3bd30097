"""The checksum of record batches: CRC-32C (Castagnoli), by a library that takes any buffer without copying."""

from __future__ import annotations

from crc32c import crc32c as checksum

__all__ = ["checksum"]

assert checksum(b"123456789") == 0xE3069283
