"""Where whole files of a store are written first, and the directories they are in."""

from __future__ import annotations

from pathlib import Path

from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import share
from lakeward.runtime.files.whole_file import make_lasting_directory

CHUNK_BYTES = 4 << 20
#: How the names of files end that are not whole.
PART = ".part"


def beside_of(path: Path) -> Path:
    """A name beside a file for what it is to become."""
    return path.with_name(f".{path.name}.{SystemEntropy().uuid().hex[:12]}{PART}")


def copy_chunk(source: Path, target: Path, position: int) -> None:
    """Copy some bytes of a file to the same place in another."""
    with source.open("rb") as reader, target.open("r+b") as writer:
        reader.seek(position)
        writer.seek(position)
        writer.write(reader.read(CHUNK_BYTES))


def make_directory(directory: Path) -> None:
    """With those above it, so that they survive a power cut; others may look into them."""
    for one in make_lasting_directory(LocalFiles(), directory):
        share(one)
