"""Files that appear whole or not at all.

On a local disk a file is written under another name and linked to its own, which fails if that is taken. An object
store does the same with one conditional put (If-None-Match: *); a plain put or rename there would lose commits.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def create(path: Path, data: bytes) -> bool:
    """Make a file with this content; False if there is one already, which is left as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(path)
    aside.write_bytes(data)
    try:
        os.link(aside, path)
    except FileExistsError:
        return False
    finally:
        aside.unlink()
    return True


def replace(path: Path, data: bytes) -> None:
    """Make a file with this content, or exchange the content of the one that is there."""
    aside = _aside(path)
    aside.write_bytes(data)
    aside.replace(path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
