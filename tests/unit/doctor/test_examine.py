"""Facts are judged by every check, and what could not be looked at is said."""

from __future__ import annotations

from lakeward.doctor.checks.all_checks import CHECKS
from lakeward.doctor.examine import judge
from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.port import Listener, PortFacts
from lakeward.doctor.findings.finding import Severity


def test_nothing_is_found_where_nothing_is_known() -> None:
    """Every check says why it could not be made."""
    seen = judge(Facts(missing={"tables": "there was no answer."}))
    assert seen.findings == ()
    assert seen.checked == 0
    assert {one.check for one in seen.unchecked} == {check.name for check in CHECKS}
    assert {one.why for one in seen.unchecked if one.check == "bucket-skew"} == {"there was no answer."}


def test_a_finding_names_its_check_and_its_section() -> None:
    """A person is led from the finding to the page."""
    (finding,) = judge(Facts(port=PortFacts("localhost:9123", Listener.NOBODY))).findings
    assert finding.severity is Severity.ERROR
    assert finding.subject == "localhost:9123"
    assert finding.page == "docs/guides/troubleshooting.md#port"
    assert finding.document()["severity"] == "error"
