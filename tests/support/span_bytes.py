"""Spans, as a test likes to compare them."""

from __future__ import annotations

import ctypes

from lakeward.records.kernels.spans import Spans


def bytes_of(spans: Spans) -> list[bytes]:
    """The stretches as bytes."""
    return [ctypes.string_at(int(a), int(b - a)) for a, b in zip(spans.starts, spans.ends, strict=True)]
