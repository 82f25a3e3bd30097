"""Figures of the overview as texts: what a script puts into the page, and the numbers that it draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.console.pages.overview.health import Health
from lakeward.console.pages.overview.sample import Sample
from lakeward.console.text.figures import bytes_text, count_text, duration_text

UNKNOWN = "–"
_RATES = {"rows_in": count_text, "rows_out": count_text, "bytes_in": bytes_text, "bytes_out": bytes_text}
_GAUGES = {"tables": count_text, "buckets": count_text, "connections": count_text, "stored_bytes": bytes_text}


def event_of(health: Health, sample: Sample, rates: Mapping[str, float], delay_s: float | None) -> dict[str, Any]:
    """One event: texts by name, points of the lines that are drawn, and the health."""
    texts = {name: f"{write(rates[name])}/s" if name in rates else UNKNOWN for name, write in _RATES.items()}
    texts |= gauge_texts(sample)
    texts["delay"] = UNKNOWN if delay_s is None else duration_text(delay_s)
    return {
        "texts": texts,
        "points": {name: rates[name] for name in _RATES if name in rates},
        "health": {"word": health.word, "sentence": health.sentence, "level": health.level},
        "summary": f"{texts['rows_in']} rows in, {texts['rows_out']} rows out, {health.word}.",
    }


def gauge_texts(sample: Sample) -> dict[str, str]:
    """What stands at one moment, as text."""
    gauges = sample.gauges
    texts = {name: write(gauges[name]) if name in gauges else UNKNOWN for name, write in _GAUGES.items()}
    free, total = gauges.get("disk_free"), gauges.get("disk_total")
    texts["disk"] = UNKNOWN if free is None else bytes_text(free)
    texts["disk_more"] = "" if free is None or not total else f"free of {bytes_text(total)}"
    return texts
