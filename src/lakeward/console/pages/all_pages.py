"""Every page there is: each module and folder beside this one says which it has."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from lakeward.console.frame.page import Page


def all_pages() -> list[Page]:
    """The rows of all modules that have some."""
    package = __name__.rpartition(".")[0]
    names = [found.name for found in pkgutil.iter_modules(import_module(package).__path__)]
    found = (getattr(import_module(f"{package}.{name}"), "PAGES", ()) for name in names)
    return [page for pages in found for page in pages]
