"""A person at a browser: Chromium, driven by Playwright, on a console of the server under test.

`browser` and `console` live as long as a module, `page` as long as a test. A test fails on any error that the
browser's console shows, any violation of the page's policy, and any request that fails; `page.expected_statuses` are
those that a test asks for itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from console_process import ConsoleProcess
from server_process import ServerProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PROGRAM = next((found for name in _NAMES if (found := shutil.which(name))), None)
_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
_PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
_SERIOUS = {"serious", "critical"}
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 860}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where there is no browser, nothing is started for it to look at."""
    if _PROGRAM is None:
        reason = "no Chromium here: the console's pages are not looked at (apt-get install chromium)"
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window. Not for the session: its event loop would be in the way of tests with their own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=_PROGRAM, args=_ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def console(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    """A console of the session's server."""
    with ConsoleProcess(server.bootstrap, tmp_path_factory.mktemp("console") / "console.log") as started:
        yield started
    assert "Traceback" not in started.log_text, started.log_text[-8000:]


class Sight:
    """One tab, and everything that went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._url = url
        self.page: Page = context.new_page()
        self.wrongs: list[str] = []
        #: Answers that a test asks for: a refused form is 400, a page that is not there 404.
        self.expected_statuses: set[int] = set()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda wrong: self.wrongs.append(f"script: {wrong}"))
        self.page.on("requestfailed", self._miss)
        self.page.on("response", self._weigh)

    def _hear(self, message: ConsoleMessage) -> None:
        is_of_status = "Failed to load resource" in message.text  # told by the response, too
        if message.type in {"error", "warning"} and not is_of_status:
            self.wrongs.append(f"{message.type}: {message.text}")

    def _miss(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page that is left lets go of what it still waits for
            self.wrongs.append(f"{request.url}: {request.failure}")

    def _weigh(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected_statuses:
            self.wrongs.append(f"{response.url}: {response.status}")

    def go(self, path: str) -> Page:
        """Open a page of the console."""
        self.page.goto(self._url + path)
        return self.page

    def check_access(self) -> None:
        """No serious finding of axe-core, light and dark, and no sideways scrolling on a phone."""
        from axe_playwright_python.sync_playwright import Axe

        size = self.page.viewport_size
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            found = Axe().run(self.page).response["violations"]
            bad = [
                (one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found if one["impact"] in _SERIOUS
            ]
            assert bad == [], f"{scheme}: {bad}"
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(PHONE)
        assert self.overflow() <= 0, f"{self.page.url} is wider than a phone"
        if size is not None:
            self.page.set_viewport_size(size)

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))

    def picture(self, name: str, **options: Any) -> None:
        """A picture for the documentation, where LAKEWARD_PICTURES asks for it (`make pictures`)."""
        if os.environ.get("LAKEWARD_PICTURES"):
            _PICTURES.mkdir(exist_ok=True)
            self.page.screenshot(path=_PICTURES / f"{name}.png", **options)


@pytest.fixture
def open_sight(browser: Browser) -> Iterator[Callable[[str], Sight]]:
    """Tabs on a console at some address, each with cookies of its own; what goes wrong in one fails the test."""
    contexts: list[BrowserContext] = []
    sights: list[Sight] = []

    def begin(url: str, **options: Any) -> Sight:
        context = browser.new_context(viewport=DESK, ignore_https_errors=True, reduced_motion="reduce", **options)
        contexts.append(context)
        contexts[-1].set_default_timeout(20_000)
        sights.append(Sight(contexts[-1], url))
        return sights[-1]

    yield begin
    wrongs = [wrong for sight in sights for wrong in sight.wrongs]
    for context in contexts:
        context.close()
    assert wrongs == []


@pytest.fixture
def sight(console: ConsoleProcess, open_sight: Callable[[str], Sight]) -> Sight:
    """A tab on the module's console."""
    return open_sight(console.url)
