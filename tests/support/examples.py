"""How many examples a property is tried with: a few here, fifty times as many by `make test-property`."""

from __future__ import annotations

import os

EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "20"))
