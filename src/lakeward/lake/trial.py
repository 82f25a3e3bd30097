"""A lake tried before anybody relies on it: its catalog opens, and a small file can be written and removed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlparse

from lakeward.lake.catalog_of import names_catalog
from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import is_s3, lake_path
from lakeward.lake.files.s3_properties import store_settings
from lakeward.lake.formats import lake_format
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.secret_text import reveal_secrets


def try_lake(format_name: str, given: Mapping[str, str]) -> None:
    """Raise what the first round of a table would; `given` are properties by the format's own names."""
    properties = reveal_secrets(given)
    place = properties.get("warehouse")
    if place is None or names_catalog(properties) or not (is_s3(place) or urlparse(place).scheme in {"", "file"}):
        lake_format(format_name).catalog(properties)
        return
    folder = lake_path(place, store_settings(properties))
    if isinstance(folder, Path) and folder.is_file():
        raise NotADirectoryError("it is a file, not a directory")
    lake_format(format_name).catalog(properties)
    file = folder / f".lakeward-trial-{SystemEntropy().uuid()}"
    whole_files.create(file, b"")
    file.unlink(missing_ok=True)
