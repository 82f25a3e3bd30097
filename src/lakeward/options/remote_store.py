"""Rows for the store of remote files: how S3 is reached, who we are there, and what clients are given.

The names are Apache Fluss's (`s3.*`), Hadoop's are aliases (`fs.s3a.*`). A server has the rows among its own; what is
handed to `open_store` is read by them too.
"""

from __future__ import annotations

from typing import Any

from lakeward.options.kinds import COUNT, DURATION, TEXT
from lakeward.options.option import Option, OptionTable, Scope

_SECOND_MS, _HOUR_MS = 1000, 3_600_000

REMOTE_STORE_OPTIONS = OptionTable(Scope.SERVER)
_row, _optional, _switch = REMOTE_STORE_OPTIONS.row, REMOTE_STORE_OPTIONS.optional, REMOTE_STORE_OPTIONS.switch
_alias = REMOTE_STORE_OPTIONS.alias

S3_ENDPOINT = _optional("s3.endpoint", TEXT, "The URL of an S3 server; AWS when unset.")
S3_REGION = _optional("s3.region", TEXT, "The region of the bucket; AWS_REGION or us-east-1 when unset.")
S3_PATH_STYLE = _switch(
    "s3.path-style-access", "Whether the bucket is named in the path of a URL, as most servers but AWS want it."
)
S3_TLS = _switch(
    "s3.connection.ssl.enabled", "Whether an s3.endpoint without http:// or https:// is meant with TLS.", default=True
)
S3_ACCESS_KEY = _optional(
    "s3.access-key",
    TEXT,
    "The access key; unset, keys are looked for in the environment, the profile and where AWS keeps them.",
    secret=True,
)
S3_SECRET_KEY = _optional("s3.secret-key", TEXT, "The secret that goes with s3.access-key.", secret=True)
S3_SESSION_TOKEN = _optional(
    "s3.session-token", TEXT, "The session token, where s3.access-key is a temporary one.", secret=True
)
S3_PROFILE = _optional("s3.profile", TEXT, "The profile in ~/.aws; AWS_PROFILE when unset (Lakeward).")
S3_SERVER_ROLE = _optional("s3.server.role.arn", TEXT, "A role that the server itself works as (Lakeward).")
S3_CLIENT_ROLE = _optional(
    "s3.assumed.role.arn", TEXT, "The role whose sessions clients are given to read remote files."
)
S3_ROLE_SESSION = _row("s3.assumed.role.session.name", TEXT, "lakeward", "The name that sessions of roles are given.")
S3_STS_ENDPOINT = _optional(
    "s3.assumed.role.sts.endpoint", TEXT, "The URL of STS; s3.endpoint when that is set, otherwise AWS's."
)

REQUEST_TIMEOUT = _row(
    "remote.store.request-timeout",
    DURATION,
    30 * _SECOND_MS,
    "How long one call to the remote store may take; then it is made again (Lakeward).",
)
RETRY_TIMEOUT = _row(
    "remote.store.retry-timeout",
    DURATION,
    30 * _SECOND_MS,
    "How long a failing call to the remote store is made again, with longer and longer pauses (Lakeward).",
)
RETRIES = _row(
    "remote.store.retries", COUNT, 10, "How often a failing call to the remote store is repeated (Lakeward)."
)
STARTUP_TIMEOUT = _row(
    "remote.store.startup-timeout",
    DURATION,
    10 * _SECOND_MS,
    "How long a server waits at its start for a remote store that does not answer (Lakeward).",
)
TOKEN_DURATION = _row(
    "remote.security-token.duration",
    DURATION,
    _HOUR_MS,
    "How long the temporary keys live that clients are given; 15 min to 12 h (Lakeward).",
)
TOKEN_ACCESS_KEY = _optional(
    "remote.security-token.access-key",
    TEXT,
    "An access key that every client is given in place of temporary keys; of a user that may only read (Lakeward).",
    secret=True,
)
TOKEN_SECRET_KEY = _optional(
    "remote.security-token.secret-key",
    TEXT,
    "The secret that goes with remote.security-token.access-key (Lakeward).",
    secret=True,
)
TOKEN_ALLOW_STATIC = _switch(
    "remote.security-token.allow-static",
    "Whether clients are given the server's own keys where no temporary ones can be had (Lakeward).",
)

_ALIASES: dict[str, Option[Any]] = {
    "s3.access.key": S3_ACCESS_KEY,
    "s3.secret.key": S3_SECRET_KEY,
    "s3.session.token": S3_SESSION_TOKEN,
    "s3.path.style.access": S3_PATH_STYLE,
    "s3.endpoint.region": S3_REGION,
    "fs.s3a.access.key": S3_ACCESS_KEY,
    "fs.s3a.secret.key": S3_SECRET_KEY,
    "fs.s3a.session.token": S3_SESSION_TOKEN,
    "fs.s3a.endpoint": S3_ENDPOINT,
    "fs.s3a.endpoint.region": S3_REGION,
    "fs.s3a.region": S3_REGION,
    "fs.s3a.path.style.access": S3_PATH_STYLE,
    "fs.s3a.connection.ssl.enabled": S3_TLS,
    "fs.s3a.assumed.role.arn": S3_CLIENT_ROLE,
    "fs.s3a.assumed.role.session.name": S3_ROLE_SESSION,
    "fs.s3a.assumed.role.sts.endpoint": S3_STS_ENDPOINT,
}
for _name, _option in _ALIASES.items():
    _alias(_name, _option)
