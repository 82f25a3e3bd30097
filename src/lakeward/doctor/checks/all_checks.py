"""CHECKS: every row, in the order in which a person would look."""

from __future__ import annotations

from lakeward.doctor.checks.address import ADDRESS_CHECKS
from lakeward.doctor.checks.directory import DIRECTORY_CHECKS
from lakeward.doctor.checks.lake import LAKE_CHECKS
from lakeward.doctor.checks.load import LOAD_CHECKS
from lakeward.doctor.checks.machine import MACHINE_CHECKS
from lakeward.doctor.checks.security import SECURITY_CHECKS
from lakeward.doctor.checks.storage import STORAGE_CHECKS
from lakeward.doctor.checks.tables import TABLE_CHECKS

CHECKS = (
    *ADDRESS_CHECKS,
    *STORAGE_CHECKS,
    *MACHINE_CHECKS,
    *DIRECTORY_CHECKS,
    *LOAD_CHECKS,
    *LAKE_CHECKS,
    *TABLE_CHECKS,
    *SECURITY_CHECKS,
)
