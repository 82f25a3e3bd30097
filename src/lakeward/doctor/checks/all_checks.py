"""CHECKS: every row, in the order in which a person would look."""

from __future__ import annotations

from lakeward.doctor.checks.address import ADDRESS_CHECKS
from lakeward.doctor.checks.lake import LAKE_CHECKS
from lakeward.doctor.checks.storage import STORAGE_CHECKS
from lakeward.doctor.checks.tables import TABLE_CHECKS

CHECKS = (*ADDRESS_CHECKS, *STORAGE_CHECKS, *LAKE_CHECKS, *TABLE_CHECKS)
