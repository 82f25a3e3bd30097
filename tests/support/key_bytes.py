"""Keys of single rows, as a test likes to write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.model.data_types import DataType
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder


def encode_key(encoding: KeyEncoding, types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """The key bytes of one row's key columns."""
    return key_encoder(encoding, tuple(types))(values)
