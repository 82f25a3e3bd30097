"""Values: where the values of a column lie in their messages, and what they look like. Nothing is copied."""

from __future__ import annotations

from ctypes import string_at
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

#: What a value looks like. ESCAPED is a text with escapes in it, WHOLE a number without point and exponent.
MISSING, NULL, STRING, ESCAPED, WHOLE, REAL, TRUE, FALSE, OBJECT, ARRAY = range(10)

#: What became of it: there is none, it fits its column, it does not, or it is rare and looked at by hand.
ABSENT, FITS, UNFIT, RARE = range(4)

_SHOWN_BYTES = 80


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one column. `starts` and `ends` are addresses in what is held, of texts without their quotes."""

    held: tuple[U8, ...]
    starts: I64
    ends: I64
    kinds: U8
    #: The message that each belongs to.
    owners: I64

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, which: NDArray[np.bool_]) -> Values:
        """Some of the values."""
        return Values(self.held, self.starts[which], self.ends[which], self.kinds[which], self.owners[which])

    def text(self, index: int) -> str:
        """One value as it stands there; for a few of them."""
        return string_at(int(self.starts[index]), int(self.ends[index] - self.starts[index])).decode(errors="replace")

    def show(self, index: int) -> str:
        """One value as it is shown in messages."""
        text = self.text(index)
        text = text if len(text) <= _SHOWN_BYTES else f"{text[:_SHOWN_BYTES]}…"
        return f"'{text}'" if self.kinds[index] in {STRING, ESCAPED} else text
