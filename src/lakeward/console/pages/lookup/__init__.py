"""Lookup: rows of a table by their keys.

lookup_page  the page
lookup_form  a field for each column of the key, and what was typed into them as a key
"""

from lakeward.console.pages.lookup.lookup_page import PAGES

__all__ = ["PAGES"]
