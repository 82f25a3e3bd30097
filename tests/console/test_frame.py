"""The frame of the console, in a browser: navigation, themes, error pages."""

from __future__ import annotations

from browser_fixtures import PHONE, Sight


def test_the_overview_says_that_the_server_is_well(sight: Sight) -> None:
    """The first page that anybody sees."""
    page = sight.go("/")
    assert page.title() == "Overview · Lakeward"
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"
    assert page.get_by_text("The server answers and says that it is well.").is_visible()
    sight.check_access()


def test_a_page_that_is_not_there_says_where_to_go(sight: Sight) -> None:
    """An address that somebody mistyped."""
    sight.expected_statuses = {404}
    page = sight.go("/nowhere")
    assert page.get_by_role("heading", level=1).inner_text() == "No such page"
    page.get_by_role("link", name="Go to the overview").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"


def test_somebody_chooses_dark_and_it_stays(sight: Sight) -> None:
    """The choice wins over the machine's, on every page."""
    page = sight.go("/")
    page.get_by_role("button", name="Dark theme").click()
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.get_by_role("button", name="Light theme").is_visible()


def test_the_keyboard_gets_to_the_content_and_to_the_menu(sight: Sight) -> None:
    """The first key skips the navigation; on a phone the navigation opens by a button."""
    page = sight.go("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.set_viewport_size(PHONE)
    assert not page.get_by_role("link", name="Overview").is_visible()
    page.get_by_role("button", name="Menu").press("Enter")
    assert page.get_by_role("link", name="Overview").is_visible()
    assert sight.overflow() <= 0
