"""Compression of single buffers."""

from __future__ import annotations

import contextlib
import threading

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError, InvalidError, LakewardError
from lakeward.records.ipc.buffer_codecs import WORTH_BYTES, codec_of, codec_of_id

every_codec = pytest.mark.parametrize("name", ["ZSTD", "LZ4_FRAME"])
TEXT = b"the same again " * 100


@every_codec
@given(raw=st.binary(max_size=600).map(lambda b: b * 3))
def test_buffers_survive_a_round_trip(name: str, raw: bytes) -> None:
    """A length, or −1 for bytes as they are; nothing for nothing."""
    codec = codec_of(name)
    stored = codec.pack(raw)
    length = int.from_bytes(stored[:8], "little", signed=True)
    if not raw:
        assert stored == b""
    elif length == -1:
        assert stored[8:] == raw
    else:
        assert len(stored) < len(raw) + 8
        assert codec.decompress(memoryview(stored)[8:], length) == raw


@every_codec
def test_arrow_understands_our_frames_and_we_understand_its(name: str) -> None:
    """Frames are those of the Arrow library, whoever wrote them."""
    ours, theirs = codec_of(name), pa.Codec({"ZSTD": "zstd", "LZ4_FRAME": "lz4"}[name])
    assert theirs.decompress(ours.pack(TEXT)[8:], len(TEXT), asbytes=True) == TEXT
    assert ours.decompress(theirs.compress(TEXT, asbytes=True), len(TEXT)) == TEXT


@every_codec
def test_bytes_that_do_not_shrink_are_stored_as_they_are(name: str) -> None:
    """Short buffers are not even tried."""
    short = b"a" * (WORTH_BYTES - 1)
    assert codec_of(name).pack(short) == b"\xff" * 8 + short
    noise = bytes(pa.py_buffer(bytes((i * i * 31 + i // 7) % 251 for i in range(300))))
    stored = codec_of(name).pack(noise)
    assert len(stored) <= len(noise) + 8


@every_codec
@given(garbage=st.binary(max_size=100), length=st.integers(-2, 2**40))
def test_garbage_is_corrupt(name: str, garbage: bytes, length: int) -> None:
    """Whatever a frame claims, it is bytes of that length or a refusal."""
    with contextlib.suppress(CorruptError):
        assert len(codec_of(name).decompress(garbage, length)) == length


@every_codec
@pytest.mark.parametrize("claimed", [len(TEXT) - 1, len(TEXT) + 1, 2**31])
def test_a_frame_of_another_size_is_corrupt(name: str, claimed: int) -> None:
    """The length beside a frame is the length of what is in it."""
    with pytest.raises(CorruptError):
        codec_of(name).decompress(codec_of(name).pack(TEXT)[8:], claimed)


def test_levels_trade_time_for_space() -> None:
    """A table's level is used."""
    text = b"".join(b"%d,%d;" % (i * i % 977, i % 91) for i in range(5000))
    assert len(codec_of("ZSTD", 19).pack(text)) < len(codec_of("ZSTD", 1).pack(text))


def test_names_and_numbers() -> None:
    """A table names its codec, a message numbers it."""
    assert codec_of("NONE") is None
    assert (codec_of("LZ4_FRAME").id, codec_of("ZSTD").id) == (0, 1)
    assert codec_of_id(1).id == 1
    with pytest.raises(InvalidError, match="not 'GZIP'"):
        codec_of("GZIP")
    with pytest.raises(CorruptError, match="compression 7"):
        codec_of_id(7)


def test_threads_compress_at_the_same_time() -> None:
    """Each thread has a compressor of its own."""
    wrong: list[LakewardError] = []

    def work() -> None:
        try:
            for _ in range(50):
                stored = codec_of("ZSTD").pack(TEXT * 20)
                assert codec_of("ZSTD").decompress(stored[8:], len(TEXT) * 20) == TEXT * 20
        except LakewardError as refused:
            wrong.append(refused)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
