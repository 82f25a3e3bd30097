"""Overview: health, rows and bytes in and out, delay, disk, and what is wrong and what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.overview.figures import UNKNOWN, event_of
from lakeward.console.pages.overview.watch import Watch
from lakeward.doctor.examine import Examination, examine
from lakeward.doctor.findings.finding import Severity

_LEVELS = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "", Severity.OK: "good"}
_FINDINGS_MAX = 100
#: No more than a few look at once: each asks the cluster for much.
_examining = asyncio.Semaphore(2)


async def show_overview(visit: Visit) -> Response:
    """The page as it is now; events change its figures."""
    health, sample = await Watch(visit).look()
    texts = event_of(health, sample, {}, None)["texts"]
    is_down = health.word == "down"
    return visit.show("overview/overview.html", health=health, texts=texts, unknown=UNKNOWN, is_down=is_down)


async def send_events(visit: Visit) -> Response:
    """The figures, live."""
    return visit.stream(Watch(visit).events())


async def show_findings(visit: Visit) -> Response:
    """What the doctor finds: a part of the page, which a script puts there when it has come."""
    async with _examining:
        examination = await examine(await visit.connection(), clock=visit.house.clock)
    return visit.show("overview/findings.html", **findings_of(examination))


def findings_of(examination: Examination) -> dict[str, Any]:
    """What the template shows of an examination."""
    shown: Sequence[Any] = [one for one in examination.findings if one.severity is not Severity.OK]
    return {
        "findings": [{"finding": one, "level": _LEVELS[one.severity]} for one in shown[:_FINDINGS_MAX]],
        "left_out": max(len(shown) - _FINDINGS_MAX, 0),
        "checked": examination.checked,
        "unchecked": examination.unchecked,
        "is_well": examination.is_well,
    }


PAGES = (
    Page("/", "Overview", show_overview, nav="Overview", position=0),
    Page("/overview/events", "Overview", send_events),
    Page("/overview/findings", "What is wrong", show_findings),
)
