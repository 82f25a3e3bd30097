"""RequestMeter: counts requests, errors and times by API."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange
from lakeward.server.grants.records.ledger import Ledger
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import requests as rows
from lakeward.telemetry.spread import FINE_BOUNDS, Spread

#: Recent is what came after the oldest of so many marks, of which one is made by each look.
_MARKS = 2


@dataclass(slots=True)
class _ApiMeter:
    """What is counted of one API."""

    requests: int = 0
    times: Spread = field(default_factory=Spread)


class RequestMeter:
    """A `Witness` of the dispatcher, which tells the ledger, too."""

    def __init__(self, ledger: Ledger, now: Callable[[], float]) -> None:
        self._ledger = ledger
        self._now = now
        self._meters = {api: _ApiMeter() for api in Api}
        self._errors: dict[tuple[Api, ErrorCode], int] = {}

    def on_request(self, exchange: Exchange, size: int) -> None:
        """A request has come."""
        self._meters[exchange.api].requests += 1
        self._ledger.on_request(exchange, size)

    def on_answer(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """It is answered."""
        seconds = self._now() - exchange.begun_s
        times = self._meters[exchange.api].times
        # As `times.observe(seconds)`, without a call: this is done for every request.
        times.counts[bisect_left(FINE_BOUNDS, seconds)] += 1
        times.total += seconds
        if wrong is not None:
            self.on_refusal(exchange, wrong)
        self._ledger.on_answer(exchange, size, wrong)

    def on_refusal(self, exchange: Exchange, wrong: LakewardError) -> None:
        """A client is told of an error, of the request or of a bucket in it."""
        key = (exchange.api, wrong.code)
        self._errors[key] = self._errors.get(key, 0) + 1

    def look(self) -> None:
        """Let the recent times be those since the look before the last one; call it by the clock."""
        for meter in self._meters.values():
            if meter.requests:
                meter.times.mark(_MARKS)

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        metrics.counter(rows.REQUESTS).read_all_from(self._requests)
        metrics.counter(rows.REQUEST_ERRORS).read_all_from(
            lambda: {(api.name, code.name): count for (api, code), count in self._errors.items()}
        )
        metrics.spreads(rows.REQUEST_SECONDS, self._times)
        metrics.spreads(rows.REQUEST_QUANTILES, self._times)

    def _requests(self) -> Mapping[Labels, float]:
        return {(api.name,): meter.requests for api, meter in self._meters.items() if meter.requests}

    def _times(self) -> Mapping[Labels, Spread]:
        return {(api.name,): meter.times for api, meter in self._meters.items() if meter.requests}
