"""Compression of the buffers of an Arrow message, each on its own.

    stored buffer := length before compression:i64, or −1 for bytes stored as they are | bytes

The libraries are small (1 MB together) and loaded when a table asks for them; decision 0010 says why these.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from lakeward.errors import ErrorCode, LakewardError

LZ4_FRAME_ID, ZSTD_ID = 0, 1
WORTH_BYTES = 256
"""Below this, compressing a buffer saves little and costs more time than all else that is done with it."""

ZSTD_LEVEL_DEFAULT = 3
_LENGTH = struct.Struct("<q")
_AS_IT_IS = _LENGTH.pack(-1)
_RAW_BYTES_MAX = (1 << 31) - 1

Bytes = bytes | bytearray | memoryview


class BufferCodec:
    """Compresses and decompresses buffers in one way."""

    def __init__(
        self, codec_id: int, compress: Callable[[Bytes], bytes], decompress: Callable[[Bytes, int], bytes]
    ) -> None:
        self.id = codec_id
        self._compress = compress
        self._decompress = decompress

    def pack(self, raw: Bytes) -> bytes:
        """The buffer as a message carries it; bytes that do not shrink are stored as they are."""
        size = len(raw)
        if not size:
            return b""
        if size >= WORTH_BYTES:
            packed = self._compress(raw)
            if len(packed) < size:
                return _LENGTH.pack(size) + packed
        return b"".join((_AS_IT_IS, raw))

    def decompress(self, packed: Bytes, raw_bytes: int) -> bytes:
        """The bytes before compression; CORRUPT_RECORD when they are not as many as they should be."""
        if not 0 <= raw_bytes <= _RAW_BYTES_MAX:
            raise _damage_error(f"it claims {raw_bytes} bytes")
        if not raw_bytes:
            return b""
        raw = self._decompress(packed, raw_bytes)
        if len(raw) != raw_bytes:
            raise _damage_error(f"it holds {len(raw)} bytes, not {raw_bytes}")
        return raw


@lru_cache(maxsize=32)
def codec_of(name: str, level: int | None = None) -> BufferCodec | None:
    """The codec of a table's setting: NONE, LZ4_FRAME or ZSTD."""
    match name:
        case "NONE":
            return None
        case "ZSTD":
            return _zstd(ZSTD_LEVEL_DEFAULT if level is None else level)
        case "LZ4_FRAME":
            return _lz4()
        case _:
            raise ErrorCode.INVALID_CONFIG.error(f"Compression must be NONE, LZ4_FRAME or ZSTD, not '{name}'.")


def codec_of_id(codec_id: int) -> BufferCodec:
    """The codec that a message names."""
    name = {LZ4_FRAME_ID: "LZ4_FRAME", ZSTD_ID: "ZSTD"}.get(codec_id)
    codec = codec_of(name) if name else None
    if codec is None:
        raise _damage_error(f"compression {codec_id} is unknown")
    return codec


@cache
def _library(name: str) -> Any:
    """A module that is loaded when it is first needed; an import costs as much as a small buffer."""
    return import_module(name)


class _ZstdTools(threading.local):
    """Compressor and decompressor of one thread: they keep their memory between calls and are not to be shared."""

    def __init__(self, level: int) -> None:
        zstandard = _library("zstandard")
        self.compressor = zstandard.ZstdCompressor(level=level)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd_tools = lru_cache(_ZstdTools)


def _zstd(level: int) -> BufferCodec:
    def compress(raw: Bytes) -> bytes:
        return bytes(_zstd_tools(level).compressor.compress(raw))

    def decompress(packed: Bytes, raw_bytes: int) -> bytes:
        zstandard = _library("zstandard")
        try:
            # A frame that says its size is believed before it is read: a damaged one must not take all memory.
            if zstandard.frame_content_size(packed) not in {-1, raw_bytes}:
                raise _damage_error("it holds another number of bytes than it claims")
            tool = _zstd_tools(level).decompressor
            return bytes(tool.decompress(packed, max_output_size=raw_bytes, allow_extra_data=False))
        except zstandard.ZstdError as wrong:
            raise _damage_error(str(wrong)) from wrong

    return BufferCodec(ZSTD_ID, compress, decompress)


def _lz4() -> BufferCodec:
    def compress(raw: Bytes) -> bytes:
        lz4 = _library("lz4.frame")
        return bytes(lz4.compress(raw, store_size=False))

    def decompress(packed: Bytes, raw_bytes: int) -> bytes:
        lz4 = _library("lz4.frame")
        tool = lz4.LZ4FrameDecompressor()
        try:
            raw = bytes(tool.decompress(packed, max_length=raw_bytes + 1))
        except (RuntimeError, EOFError) as wrong:
            raise _damage_error(str(wrong)) from wrong
        if not tool.eof or tool.unused_data:
            raise _damage_error("it is not one whole frame")
        return raw

    return BufferCodec(LZ4_FRAME_ID, compress, decompress)


def _damage_error(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"A compressed buffer of the record batch is damaged: {what}.")
