"""What may be told of settings: names on a list, and no password inside a URL."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

HIDDEN = "******"
#: Properties of a lake catalog or a file system that every client may know. What is not here is withheld: nobody can
#: list the names that secrets have in all catalogs there are.
_TOLD = frozenset(
    {
        "type", "uri", "warehouse", "name", "metastore", "catalog-impl", "catalog-name", "catalog-key", "io-impl",
        "py-io-impl", "prefix", "format", "format-version", "lock.enabled", "case-sensitive", "cache-enabled",
        "table.type", "rest.sigv4-enabled", "rest.signing-name", "rest.signing-region", "oauth2-server-uri", "scope",
        "audience", "hive.hive2-compatible", "jdbc.schema-version", "glue.id", "glue.region", "glue.endpoint",
        "client.region", "client.factory", "default-database", "init_catalog_tables", "location-in-properties",
        "sync-all-properties",
        "endpoint", "region", "path-style-access", "path.style.access", "endpoint.region", "connection.ssl.enabled",
        "project-id", "account-name", "account-host", "force-virtual-addressing",
    }
)  # fmt: skip
_STORES = ("s3.", "s3a.", "fs.s3a.", "oss.", "fs.oss.", "gcs.", "gs.", "adls.", "abfs.")
_USER_INFO = re.compile(r"(?<=://)[^/?#\s'\"]*@")
_SECRET_PARAMETER = re.compile(
    r"([?&;][^=&;\s]*(?:password|passwd|pwd|secret|token|key|credential|signature|user)[^=&;\s]*=)[^&;\s'\"]*",
    re.IGNORECASE,
)
_OPTION = re.compile(r"('((?:[^']|'')*)'\s*=\s*)'(?:[^']|'')*'")
_SECRET_NAME = re.compile(
    r"passw(?:or)?d|passphrase|secret|credential|jaas|user-info|(?:access|private|account|api)[-._]?key|(?:session|auth|access)[-._]?token",
    re.IGNORECASE,
)


_REFERENCE = re.compile(r"\$\{env:[^}]*\}|file:.+", re.DOTALL)


def is_reference(value: str) -> bool:
    """Whether a value says where a secret is kept, `${env:NAME}` or `file:/path`, instead of being one."""
    return _REFERENCE.fullmatch(value) is not None


def may_be_told(name: str) -> bool:
    """Whether everybody may know a property of a lake catalog or a file system, named without its prefix."""
    if name in _TOLD:
        return True
    store = next((store for store in _STORES if name.startswith(store)), None)
    return store is not None and name.removeprefix(store) in _TOLD


def is_of_secret(name: str) -> bool:
    """Whether a property sounds as if it held a secret."""
    return _SECRET_NAME.search(name) is not None


def shown_value(name: str, value: str) -> str:
    """A value as a person may see it: where a secret is kept, but no secret."""
    return HIDDEN if is_of_secret(name) and not is_reference(value) else value


def without_passwords(text: str) -> str:
    """A text whose URLs name no user, and whose parameters hold no secret."""
    return _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", _USER_INFO.sub("", text))


def without_secret_options(sql: str) -> str:
    """A statement in which options that sound as if they held a secret have lost their values."""
    return _OPTION.sub(lambda found: f"{found[1]}'{HIDDEN}'" if is_of_secret(found[2]) else found[0], sql)


def has_user_info(url: str) -> bool:
    """Whether a URL names a user or holds a password."""
    return "@" in urlsplit(url).netloc or without_passwords(url) != url
