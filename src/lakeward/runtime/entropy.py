"""Entropy: where ids and randomness come from. The system, or a seed that makes a run repeatable."""

from __future__ import annotations

import random
import secrets
import uuid
from typing import Protocol


class Entropy(Protocol):
    """Unpredictable values."""

    def uuid(self) -> uuid.UUID:
        """A new random id."""
        ...

    def below(self, bound: int) -> int:
        """A whole number from 0 up to, not including, `bound`."""
        ...

    def fraction(self) -> float:
        """A number from 0.0 up to, not including, 1.0."""
        ...

    def token(self, size_bytes: int) -> bytes:
        """That many random bytes."""
        ...


class SystemEntropy:
    """The machine's randomness."""

    def uuid(self) -> uuid.UUID:
        """A new random id."""
        return uuid.uuid4()

    def below(self, bound: int) -> int:
        """A whole number below `bound`."""
        return secrets.randbelow(bound)

    def fraction(self) -> float:
        """A number below 1."""
        return secrets.randbits(53) / (1 << 53)

    def token(self, size_bytes: int) -> bytes:
        """That many random bytes."""
        return secrets.token_bytes(size_bytes)


class SeededEntropy:
    """The same values in the same order for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable is the point

    def uuid(self) -> uuid.UUID:
        """The next id of the sequence."""
        return uuid.UUID(bytes=self._random.randbytes(16), version=4)

    def below(self, bound: int) -> int:
        """The next whole number below `bound`."""
        return self._random.randrange(bound)

    def fraction(self) -> float:
        """The next number below 1."""
        return self._random.random()

    def token(self, size_bytes: int) -> bytes:
        """The next random bytes."""
        return self._random.randbytes(size_bytes)
