"""Templates: Jinja with our ways to show numbers and times. Everything is escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from lakeward.console.text.figures import bytes_text, count_text, duration_text
from lakeward.console.text.moments import ago_text, exact_text
from lakeward.runtime.clock import Clock


class Templates:
    """The templates of the package.

    Filters: `count` (1.2 M), `size` (34 MB), `duration` (3.4 s), `ago` (a <time> with the exact moment in its title),
    `prose` (a sentence, with what stands in backticks as code).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._environment = Environment(
            loader=PackageLoader("lakeward.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "count": count_text,
            "size": bytes_text,
            "duration": duration_text,
            "ago": self._ago,
            "prose": _prose,
        }

    def render(self, template: str, values: dict[str, Any]) -> str:
        """A template with its values."""
        return self._environment.get_template(template).render(values)

    def _ago(self, at_ms: int) -> Markup:
        exact = exact_text(at_ms)
        machine = exact.replace(" UTC", "Z").replace(" ", "T")
        shown = ago_text(at_ms, self._clock.now_ms())
        return Markup('<time datetime="{}" title="{}">{}</time>').format(machine, exact, escape(shown))


def _prose(text: str) -> Markup:
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = [Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)]
    return Markup("").join(marked)
