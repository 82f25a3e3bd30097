"""Containers that are built and run: `make test-containers`, which takes minutes. Not part of `make test`."""

from __future__ import annotations

import os

collect_ignore = [] if "LAKEWARD_CONTAINERS" in os.environ else ["test_image.py", "test_linters.py"]
