"""What blocking code loads on its caller's thread, where Ctrl-C may come."""

from __future__ import annotations

from functools import cache

from lakeward.runtime.process.held_signals import hold_signals


@cache
def load_forms() -> None:
    """Load what takes rows in any form, as a whole: libraries that are left half-loaded stay so."""
    with hold_signals():
        import lakeward.client.forms.data_forms  # noqa: F401
