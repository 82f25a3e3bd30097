"""Where the cluster asks who somebody is, so does the console; rights are the cluster's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browser_fixtures import Sight
from console_process import ConsoleProcess
from logins import ASKING, JAAS
from playwright.sync_api import expect
from server_process import ServerProcess

import lakeward

_OPTIONS = {**ASKING, "authorizer__enabled": "true", "super__users": "User:admin"}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    """A console of a server that asks, and that lets alice see nothing."""
    directory = tmp_path_factory.mktemp("asking")
    with ServerProcess(directory / "data", security__sasl__plain__jaas__config=JAAS, **_OPTIONS) as server:
        where = server.listeners["CLIENT"]
        with lakeward.connect(where, user="admin", password="admin-secret") as admin:
            admin.create_database("shop")
            admin.create_table("shop.orders", "id BIGINT")
        with ConsoleProcess(where, directory / "console.log") as console:
            yield console
        assert "secret" not in console.log_text
        assert "Traceback" not in console.log_text


def log_in(sight: Sight, name: str, password: str) -> None:
    """Type who one is."""
    sight.page.get_by_label("Name").fill(name)
    sight.page.get_by_label("Password").fill(password)
    sight.page.get_by_role("button", name="Log in").click()


def test_somebody_logs_in_looks_and_leaves(asking: ConsoleProcess, open_sight: Callable[[str], Sight]) -> None:
    """The page that was wanted comes after the login; nothing of the password is in a page, an address or a cookie."""
    sight = open_sight(asking.url)
    sight.expected_statuses = {401}
    page = sight.go("/tables/shop/orders")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    sight.check_access()
    before = page.context.cookies()
    log_in(sight, "admin", "wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not know this name")
    assert page.get_by_label("Name").input_value() == "admin"
    assert page.get_by_label("Password").input_value() == ""
    log_in(sight, "admin", "admin-secret")
    expect(page.get_by_role("heading", level=1)).to_have_text("shop.orders")
    assert "admin-secret" not in page.content()
    (cookie,) = page.context.cookies()
    assert cookie["value"] != before[0]["value"]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    sight.go("/")
    expect(page.get_by_text("Logged in as admin")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("status")).to_have_text("You have logged out.")
    sight.go("/tables")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def test_somebody_without_rights_is_told_so(asking: ConsoleProcess, open_sight: Callable[[str], Sight]) -> None:
    """A page, not an error; a form that is refused keeps what was typed."""
    sight = open_sight(asking.url)
    sight.expected_statuses = {400, 403}
    page = sight.go("/")
    log_in(sight, "alice", "alice-secret")
    expect(page.get_by_text("Logged in as alice")).to_be_visible()
    sight.go("/tables/shop/orders")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not allowed")
    sight.check_access()
    sight.go("/new-database")
    page.get_by_label("Name").fill("mine")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("alice")
    assert page.get_by_label("Name").input_value() == "mine"


def test_two_people_have_each_their_own_login(asking: ConsoleProcess, open_sight: Callable[[str], Sight]) -> None:
    """In two browsers; who has not logged in has nobody's rights."""
    first, second, third = (open_sight(asking.url) for _ in range(3))
    for sight, name in ((first, "admin"), (second, "alice")):
        sight.go("/login")
        log_in(sight, name, f"{name}-secret")
    expect(first.go("/").get_by_text("Logged in as admin")).to_be_visible()
    expect(second.go("/").get_by_text("Logged in as alice")).to_be_visible()
    expect(third.go("/").get_by_role("heading", level=1)).to_have_text("Log in")
