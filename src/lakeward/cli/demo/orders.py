"""Orders of a shop that does not exist, for the demo."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy

COLUMNS = "id BIGINT, customer STRING, item STRING, qty INT, price DECIMAL(10, 2), placed_at TIMESTAMP_LTZ(3)"

_CUSTOMERS = ("Ada", "Björn", "Chidi", "Dilnoza", "Emeka", "Fatima", "Goran", "Hana", "Ines", "Jun", "Kofi", "Léa")
_CENTS_OF_ITEM = {
    "umbrella": 1900,
    "lantern": 3450,
    "kettle": 4200,
    "notebook": 650,
    "bike bell": 1275,
    "wool socks": 1490,
    "rain jacket": 8900,
    "thermos": 2600,
    "coast map": 990,
}


class Orders:
    """An endless row of orders, numbered from where the last run ended."""

    def __init__(self, clock: Clock, entropy: Entropy, next_id: int = 1) -> None:
        self._clock = clock
        self._entropy = entropy
        self._next_id = next_id

    def next(self) -> dict[str, Any]:
        """The order that is placed now."""
        item = self._one_of(tuple(_CENTS_OF_ITEM))
        quantity = 1 + self._entropy.below(4)
        order = {
            "id": self._next_id,
            "customer": self._one_of(_CUSTOMERS),
            "item": item,
            "qty": quantity,
            "price": Decimal(quantity * _CENTS_OF_ITEM[item]) / 100,
            "placed_at": datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC),
        }
        self._next_id += 1
        return order

    def _one_of(self, choices: tuple[str, ...]) -> str:
        return choices[self._entropy.below(len(choices))]
