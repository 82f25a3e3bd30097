"""How often and when servers are killed, and options that make it hurt."""

from __future__ import annotations

import os
import random

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))
SEED = int(os.environ.get("CRASH_SEED", str(random.SystemRandom().randrange(10**6))))

#: Everything that happens by size or by the clock happens often, so that it is interrupted often.
OPTIONS = {
    "log__segment__file_size": "40kb",
    "log__index__interval_size": "1kb",
    "log__flush__offset__checkpoint_interval": "50ms",
    "log__retention__check_interval": "100ms",
}
