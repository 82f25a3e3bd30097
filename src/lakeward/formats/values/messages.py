"""Messages put into one buffer, those that are not UTF-8 found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from lakeward.formats.values.faults import Faults
from lakeward.formats.values.values import STRING, Values


def values_of(messages: Sequence[bytes | None], faults: Faults) -> Values:
    """Each message as a text; those without a value are left out, those that are not UTF-8 are faults and left out."""
    owners = np.arange(len(messages))
    if None in messages:
        owners = np.array([index for index, message in enumerate(messages) if message is not None], np.int64)
    values = _whole(messages, owners)
    if not _is_utf8(values):
        wrong = {}
        for owner in owners.tolist():
            try:
                (messages[owner] or b"").decode()
            except UnicodeDecodeError as problem:
                wrong[owner] = (
                    f"it is not UTF-8: byte {problem.start} is {(messages[owner] or b'')[problem.start]:#04x}"
                )
        for owner, reason in wrong.items():
            faults.add(owner, reason)
        values = _whole(messages, np.array([owner for owner in owners.tolist() if owner not in wrong], np.int64))
    return values


def _whole(messages: Sequence[bytes | None], owners: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Values:
    is_whole = len(owners) == len(messages)
    present = cast("Sequence[bytes]", messages if is_whole else [messages[owner] for owner in owners.tolist()])
    bounds = np.zeros(len(owners) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, present), np.int64, len(owners)), out=bounds[1:])
    data = np.frombuffer(b"".join(present), np.uint8)
    base = data.ctypes.data
    kinds = np.full(len(owners), STRING, np.uint8)
    return Values((data,), bounds[:-1] + base, bounds[1:] + base, kinds, owners.astype(np.int64))


def _is_utf8(values: Values) -> bool:
    (data,) = values.held
    offsets = np.append(values.starts, values.ends[-1:]) - data.ctypes.data
    texts = pa.Array.from_buffers(pa.large_string(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
