"""Lists in pages."""

from __future__ import annotations

import pytest

from lakeward.rest.protocol.failures import RestError
from lakeward.rest.protocol.paging import page_of

NAMES = [f"t{i:02}" for i in range(10)]


def test_who_asks_for_no_page_gets_everything() -> None:
    """As readers that know of no pages expect."""
    assert page_of(NAMES, {"pageSize": "3"}) == (NAMES, None)


@pytest.mark.parametrize("size", [1, 3, 9, 10, 11])
def test_pages_are_all_names_once(size: int) -> None:
    """The first token is empty, the last page has none."""
    found, token = [], ""
    while token is not None:
        page, token = page_of(NAMES, {"pageToken": token, "pageSize": str(size)})
        assert 0 < len(page) <= size
        found += page
    assert found == NAMES


def test_names_may_go_between_pages() -> None:
    """A token tells after which name the next page begins."""
    page, token = page_of(NAMES, {"pageToken": "", "pageSize": "3"})
    assert token is not None
    rest, _ = page_of([name for name in NAMES if name not in page], {"pageToken": token, "pageSize": "100"})
    assert page + rest == NAMES


@pytest.mark.parametrize(
    "query", [{"pageToken": "%%%"}, {"pageToken": "", "pageSize": "0"}, {"pageToken": "", "pageSize": "x"}]
)
def test_what_is_no_page_is_refused(query: dict[str, str]) -> None:
    """With a status of a bad request."""
    with pytest.raises(RestError) as wrong:
        page_of(NAMES, query)
    assert wrong.value.status == 400
