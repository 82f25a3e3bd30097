"""Templates: everything is escaped, and backticks are code."""

from __future__ import annotations

from lakeward.console.frame.render import Templates
from lakeward.runtime.clock import ManualClock


def test_an_error_that_quotes_markup_shows_it_as_text() -> None:
    """Whoever names a table, or writes an error, writes no page."""
    failure = {"title": "<x>", "what": "`<b>` is & was", "todo": "odd ` tick"}
    layout = {
        "title": "<t>",
        "navigation": [],
        "bootstrap": "b",
        "read_only": True,
        "user": "<u>",
        "may_leave": False,
        "form_token": "t",
        "note": "",
        "path": "/",
    }
    page = Templates(ManualClock()).render("failure.html", {"failure": failure, **layout})
    assert "<h1>&lt;x&gt;</h1>" in page
    assert "<code>&lt;b&gt;</code> is &amp; was" in page
    assert "odd ` tick" in page
    assert "&lt;u&gt;" in page
