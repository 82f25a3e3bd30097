"""Bundle: texts by name, each bounded, written as a zip for its owner alone."""

from __future__ import annotations

import contextlib
import json
import zipfile
from pathlib import Path
from typing import Any

from lakeward.doctor.bundle.redaction import Redaction
from lakeward.errors import ErrorCode
from lakeward.runtime.files.private_files import new_private_file
from lakeward.runtime.version import VERSION

#: Characters of one text, and of all of them.
TEXT_MAX = 2_000_000
BUNDLE_MAX = 32_000_000
_CUT = "\n… cut here: the text goes on for {rest:,} characters.\n"
_HEAD = """What is in here was gathered by `lakeward doctor --bundle` of Lakeward {version} for somebody who helps.

It holds no row of any table and no secret: passwords and keys are starred out, users are replaced by numbers. Names of
databases, tables, columns, machines and directories are in it. All of it is text: look through it before you send it.

"""


class Bundle:
    """What is gathered so far."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._texts: dict[str, tuple[str, str]] = {}
        self._size = 0

    def add(self, name: str, sentence: str, text: str) -> None:
        """Take a text in; `sentence` says what it is. What is too long is cut, and it is said."""
        room = max(0, min(TEXT_MAX, BUNDLE_MAX - self._size))
        if len(text) > room:
            text = text[:room] + _CUT.format(rest=len(text) - room)
        cleaned = self._redaction.clean(text)
        self._size += len(cleaned)
        self._texts[name] = (sentence, cleaned)

    def add_document(self, name: str, sentence: str, document: Any) -> None:
        """The same of something that JSON can say."""
        self.add(name, sentence, json.dumps(document, indent=1, default=str, ensure_ascii=False) + "\n")

    @property
    def names(self) -> list[str]:
        """What is in it."""
        return [*self._texts, "README.txt"]

    def write(self, path: Path, *, replace: bool = False) -> None:
        """Make the file, whole or not at all; one that is there is left alone unless it is to be replaced."""
        if path.exists() and not replace:
            raise ErrorCode.INVALID_CONFIG.error(f"{path} is there already; name another file, or say --force.")
        beside = path.with_name(f".{path.name}.part")
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        try:
            with new_private_file(beside) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, (_, text) in self._texts.items():
                    archive.writestr(name, text)
                archive.writestr("README.txt", self._read_me())
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def _read_me(self) -> str:
        width = max(map(len, self._texts), default=0)
        lines = [f"{name.ljust(width)}  {sentence}" for name, (sentence, _) in self._texts.items()]
        return _HEAD.format(version=VERSION) + "\n".join(lines) + "\n"
