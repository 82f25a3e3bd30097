"""Certificate → who its owner is."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.model.principal import Principal
from lakeward.server.access.encryption.subjects import principal_of


def certificate(*parts: tuple[str, str]) -> dict[str, Any]:
    """As Python's ssl tells it."""
    return {"subject": tuple((part,) for part in parts)}


ALICE = certificate(("countryName", "DE"), ("organizationName", "Example"), ("commonName", "alice"))


def test_the_subject_or_the_common_name() -> None:
    """The most special part first, as people write it."""
    assert principal_of(ALICE, whole=True) == Principal("CN=alice,O=Example,C=DE")
    assert principal_of(ALICE, whole=False) == Principal("alice")


@pytest.mark.parametrize(
    ("value", "shown"), [("a,b", r"a\,b"), (" a", r"\ a"), ("a ", r"a\ "), ("#a", r"\#a"), ("a\\b=c", r"a\\b\=c")]
)
def test_a_part_cannot_pass_for_two(value: str, shown: str) -> None:
    """Whoever may choose a name cannot choose an organization with it."""
    assert principal_of(certificate(("commonName", value)), whole=True) == Principal(f"CN={shown}")


def test_without_a_name_one_is_nobody() -> None:
    """No subject, or no common name where that counts."""
    assert principal_of({}, whole=True) is None
    assert principal_of(certificate(("organizationName", "x")), whole=False) is None
    assert principal_of(certificate(("emailAddress", "x")), whole=True) == Principal("emailAddress=x")
