"""The library behind a lake format: which is installed, which are known to work, and what is said when they differ."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError


class Library(NamedTuple):
    """A library, and the versions that are known to work: from the first, and below the last if there is one."""

    name: str
    first: str
    below: str | None = None

    @property
    def versions(self) -> str:
        """As pip writes it."""
        return f">={self.first}" + (f",<{self.below}" if self.below else "")


#: As in pyproject.toml, where these are pinned.
LIBRARIES = {"iceberg": Library("pyiceberg", "0.12", "0.13"), "paimon": Library("fastavro", "1.9")}


def check_library(format_name: str) -> None:
    """Refuse a version that is not known to work; one that is not installed is for the import to say."""
    library = LIBRARIES[format_name]
    try:
        numbers = _numbers(version(library.name))
    except PackageNotFoundError:
        return
    if numbers < _numbers(library.first) or (library.below is not None and numbers >= _numbers(library.below)):
        raise unfit_library(format_name)


def unfit_library(format_name: str, why: str | None = None) -> LakewardError:
    """The sentence for a library that is installed and does not fit; `why` is what exactly."""
    library = LIBRARIES[format_name]
    return ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
        f"The lake format '{format_name}' is known to work with {library.name}{library.versions}, and "
        f"{version(library.name)} is installed{f' ({why})' if why else ''}: pip install 'lakeward[{format_name}]'."
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])
