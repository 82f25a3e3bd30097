"""Certificate → who its owner is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakeward.model.principal import Principal

#: The short names that RFC 4514 has, and those that people know; all others are written out.
_SHORT = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
_SPECIAL = re.compile(r'[,+"\\<>;=]|^[ #]| $')


def principal_of(certificate: Mapping[str, Any], *, whole: bool) -> Principal | None:
    """Whom a certificate that was checked belongs to: its whole subject, or the common name; None if it has none."""
    parts = [part for group in certificate.get("subject", ()) for part in group]
    if whole:
        # RFC 4514 begins with the most special part, certificates with the most general one.
        name = ",".join(f"{_SHORT.get(kind, kind)}={_escaped_value(value)}" for kind, value in reversed(parts))
    else:
        name = next((value for kind, value in reversed(parts) if kind == "commonName"), "")
    return Principal(name) if name else None


def _escaped_value(value: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", value).replace("\0", "\\00")
