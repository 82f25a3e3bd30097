"""What all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no failure: examples may take as long as they need.
settings.register_profile("lakeward", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lakeward")

pytest_plugins = ["seaweed", "moto_s3", "server_fixtures", "lake_fixtures"]
