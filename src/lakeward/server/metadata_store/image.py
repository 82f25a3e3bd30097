"""Image: the whole of the metadata as one file, with a seal at its end.

    <a SQLite database> "\\nlakeward-seal " {"identity": …, "generation": …, "size": …, "sha256": …} "\\n"

SQLite reads such a file as any other. It keeps no checksums of its own: the seal is how a flipped bit, a cut file, an
empty one and the file of another server are told from a good one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

SQLITE_MAGIC = b"SQLite format 3\0"
_MARK = b"\nlakeward-seal "
_SEAL_MAX = 512


class DamagedError(ValueError):
    """A file is not what was written; says what was found."""


@dataclass(frozen=True, slots=True)
class Image:
    """The metadata of one server after one change."""

    identity: str
    generation: int
    content: bytes

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        seal = {"identity": self.identity, "generation": self.generation, "size": len(self.content)}
        return b"".join((self.content, _MARK, json.dumps({**seal, "sha256": self._digest()}).encode(), b"\n"))

    def _digest(self) -> str:
        digest = hashlib.sha256(self.content)
        digest.update(f"{self.identity} {self.generation}".encode())
        return digest.hexdigest()

    @classmethod
    def of(cls, data: bytes) -> Image:
        """What was sealed; DamagedError when these are not the bytes that were."""
        if not data:
            raise DamagedError("it is empty")
        at = data.rfind(_MARK, max(len(data) - _SEAL_MAX, 0))
        if at < 0:
            raise DamagedError(f"its seal is missing: it was cut to {len(data):,} bytes, or another program wrote it")
        try:
            seal = json.loads(data[at + len(_MARK) :])
            image = cls(str(seal["identity"]), int(seal["generation"]), data[:at])
            is_good = seal["sha256"] == image._digest() and seal["size"] == at
        except (ValueError, KeyError, TypeError):
            raise DamagedError("its seal cannot be read") from None
        if not is_good:
            raise DamagedError(
                f"its checksum does not fit: some of its {at:,} bytes have changed since they were written"
            )
        return image


def is_unsealed_database(data: bytes) -> bool:
    """Whether this is a database without a seal, as releases before wrote it."""
    return data.startswith(SQLITE_MAGIC) and _MARK not in data[-_SEAL_MAX:]
