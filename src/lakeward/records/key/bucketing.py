"""Key bytes → bucket. Tables share their buckets with the lake they flow into, so each lake's function is here.

One row at a time, the reference; `bucket_kernels` does whole columns.

The murmur variant behind our own and Paimon's buckets mixes the last 0–3 bytes one by one. Java extends their sign,
the clients built on Rust (pyfluss) do not, so the two disagree on many keys: `follow_pyfluss` chooses.
"""

from __future__ import annotations

from lakeward.errors import ErrorCode

_MASK = 0xFFFFFFFF
_SEED = 42
_I32_MAX = 0x7FFFFFFF


def bucket_of(key: bytes, bucket_count: int, lake_format: str | None, *, follow_pyfluss: bool = False) -> int:
    """The bucket of a key in a table that flows into this lake, or none."""
    if not key:
        raise ErrorCode.INVALID_TARGET_COLUMN.error("A bucket key must not be empty.")
    assert bucket_count > 0
    match lake_format.lower() if lake_format else None:
        case "paimon":
            return paimon_bucket(key, bucket_count, follow_pyfluss=follow_pyfluss)
        case "iceberg":
            return iceberg_bucket(key, bucket_count)
        case "hudi":
            return hudi_bucket(key, bucket_count)
        case None | "lance":
            return fluss_bucket(key, bucket_count, follow_pyfluss=follow_pyfluss)
        case unknown:
            raise ErrorCode.INVALID_CONFIG.error(f"There are no buckets for lake format '{unknown}'.")


def fluss_bucket(key: bytes, bucket_count: int, *, follow_pyfluss: bool = False) -> int:
    """Buckets of tables without a lake, and with Lance."""
    code = hash42(key, follow_pyfluss=follow_pyfluss) & _MASK
    mixed = _to_i32(_finish(_mix_hash(0, _mix_word(code)) ^ 4))
    return (0 if mixed == -(2**31) else abs(mixed)) % bucket_count


def paimon_bucket(key: bytes, bucket_count: int, *, follow_pyfluss: bool = False) -> int:
    """Buckets of Paimon."""
    return abs(hash42(key, follow_pyfluss=follow_pyfluss)) % bucket_count


def iceberg_bucket(key: bytes, bucket_count: int) -> int:
    """Buckets of Iceberg's bucket transform."""
    return (murmur3(key) & _I32_MAX) % bucket_count


def hudi_bucket(key: bytes, bucket_count: int) -> int:
    """Buckets of Hudi's bucket index; the key is the hash itself."""
    return (int.from_bytes(key[:4], "big") & _I32_MAX) % bucket_count


def hash42(key: bytes, *, follow_pyfluss: bool = False) -> int:
    """The murmur variant with seed 42, as a signed 32-bit integer."""
    state = _SEED
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        state = _mix_hash(state, _mix_word(int.from_bytes(key[at : at + 4], "little")))
    for byte in key[whole:]:
        word = byte if follow_pyfluss or byte < 0x80 else byte | 0xFFFFFF00
        state = _mix_hash(state, _mix_word(word))
    return _to_i32(_finish(state ^ len(key)))


def murmur3(key: bytes) -> int:
    """Standard murmur3 for 32 bits with seed 0, as a signed 32-bit integer."""
    state = 0
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        state = _mix_hash(state, _mix_word(int.from_bytes(key[at : at + 4], "little")))
    if whole != len(key):
        state ^= _mix_word(int.from_bytes(key[whole:], "little"))
    return _to_i32(_finish(state ^ len(key)))


def _mix_word(word: int) -> int:
    word = word * 0xCC9E2D51 & _MASK
    word = (word << 15 | word >> 17) & _MASK
    return word * 0x1B873593 & _MASK


def _mix_hash(state: int, word: int) -> int:
    state ^= word
    state = (state << 13 | state >> 19) & _MASK
    return (state * 5 + 0xE6546B64) & _MASK


def _finish(state: int) -> int:
    state ^= state >> 16
    state = state * 0x85EBCA6B & _MASK
    state ^= state >> 13
    state = state * 0xC2B2AE35 & _MASK
    return state ^ state >> 16


def _to_i32(word: int) -> int:
    return word - 2**32 if word > _I32_MAX else word
