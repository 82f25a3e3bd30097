"""Live tail: the rows of a table as they come.

tail_page    the page and its events
tail_form    what was asked for: table, columns, condition, where to begin
tail         a scan that goes on, as documents for the page
tail_buffer  rows on their way to a page, as many as it can show
position     how far a tail is, so that it can go on later
"""

from lakeward.console.pages.live.tail_page import PAGES

__all__ = ["PAGES"]
