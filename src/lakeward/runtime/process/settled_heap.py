"""What a server has loaded stays, and the garbage collector need not look at it again.

With the compiled loops of primary key tables that is half a million objects: a full collection stops everything for
0.1 to 0.3 seconds, and thousands of small requests bring one about.
"""

from __future__ import annotations

import gc


def settle_heap() -> None:
    """Have the collector pass over all there is now. To be called when something large has been loaded."""
    gc.freeze()
