"""What `spark-submit` is given: the script lakeward_tier.

It puts a script's folder first on the path, so the script has a folder of its own.
"""

from __future__ import annotations

from pathlib import Path

#: The tiering service as a script: it takes what `lakeward tier` takes, and Spark's master from `spark-submit`.
TIER_SCRIPT = Path(__file__).with_name("lakeward_tier.py")
