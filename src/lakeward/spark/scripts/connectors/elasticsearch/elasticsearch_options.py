"""Rows of the connector `elasticsearch`, by the names that other systems have for them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.errors import ErrorCode
from lakeward.options.kinds import DURATION, SIZE, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope

ELASTICSEARCH_OPTIONS = OptionTable(Scope.CONNECTOR)
_optional, _row, _inert = ELASTICSEARCH_OPTIONS.optional, ELASTICSEARCH_OPTIONS.row, ELASTICSEARCH_OPTIONS.inert

HOSTS = _optional("hosts", TEXT, "One or more servers, `http://host:9200;http://other:9200`. Always needed.")
INDEX = _optional(
    "index",
    TEXT,
    "The index of each row. `{field}` is the value of a column, `{field|yyyy-MM-dd}` that of a date or time in UTC."
    " Always needed.",
)
DELIMITER = _row(
    "document-id.key-delimiter",
    TEXT,
    "_",
    "What stands between the columns of a primary key in the id of a document. It should not be in their values.",
)
USERNAME = _optional("username", TEXT, "Who asks.")
PASSWORD = _optional("password", TEXT, "The password.", secret=True)
API_KEY = _optional("api-key", TEXT, "A key, in the form that the server gave it, in place of a name.", secret=True)
CA_FILE = _optional("ssl.ca.location", TEXT, "A file with the certificates to trust, where hosts are `https`.")
VERIFY = ELASTICSEARCH_OPTIONS.switch("ssl.verify", "Whether the certificate of a server is checked.", default=True)
MAX_ACTIONS = _row("sink.bulk-flush.max-actions", integer(low=1), 1000, "How many actions a request has at most.")
MAX_SIZE = _row(
    "sink.bulk-flush.max-size", SIZE, 2 << 20, "How long a request is at most, but for one with one action."
)
STRATEGY = _row(
    "sink.bulk-flush.backoff.strategy",
    choice("EXPONENTIAL", "CONSTANT", "DISABLED"),
    "EXPONENTIAL",
    "How long the pause is before a request is sent again, where the server is busy or away.",
)
MAX_RETRIES = _row("sink.bulk-flush.backoff.max-retries", integer(low=0), 8, "How often it is sent again.")
DELAY = _row(
    "sink.bulk-flush.backoff.delay", DURATION, 50, "The first pause; with `EXPONENTIAL` each is twice as long."
)
FAILURE_HANDLER = _row(
    "failure-handler",
    choice("fail", "ignore", "dead-letter"),
    "fail",
    "What becomes of documents that the server refuses: the job fails and says why, they are left out and counted, or"
    " they are kept as dead letters.",
)
DEAD_LETTER_PATH = _optional(
    "sink.dead-letter.path", TEXT, "A directory for dead letters, as files of JSON; `s3a://…` where Spark reaches it."
)
DEAD_LETTER_TABLE = _optional(
    "sink.dead-letter.table",
    TEXT,
    "A table for dead letters, `db.table`, of the script's cluster; it is made if absent.",
)
PATH_PREFIX = _optional("connection.path-prefix", TEXT, "What the paths of all requests begin with.")
TIMEOUT = _row("socket.timeout", DURATION, 30_000, "How long an answer may take.")
_row("format", choice("json"), "json", "Documents are JSON.")
for _key in (
    *("sink.flush-on-checkpoint", "sink.bulk-flush.interval", "sink.delivery-guarantee", "sink.parallelism"),
    *("document-type", "connection.max-retry-timeout", "connection.timeout", "connection.request-timeout"),
):
    _inert(_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSettings:
    """What tasks are told."""

    hosts: tuple[str, ...]
    prefix: str
    authorization: str | None = field(repr=False)
    ca_file: str | None
    verifies: bool
    max_actions: int
    max_bytes: int
    pauses_ms: tuple[int, ...]
    timeout_s: float

    @classmethod
    def of(cls, options: Mapping[str, str], owner: str) -> BulkSettings:
        """Read the options of a table."""
        hosts = tuple(host.strip().rstrip("/") for host in (HOSTS.read(options) or "").split(";") if host.strip())
        if not hosts:
            raise _missing(owner, HOSTS.key, "http://localhost:9200")
        for host in hosts:
            if not host.startswith(("http://", "https://")) or "@" in host:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"{owner}: '{HOSTS.key}' has a host that is not written as http://host:port; a name and a password"
                    f" are options of their own."
                )
        factor = {"EXPONENTIAL": 2, "CONSTANT": 1, "DISABLED": 0}[STRATEGY.read(options)]
        times = MAX_RETRIES.read(options) if factor else 0
        return cls(
            hosts=hosts,
            prefix=(PATH_PREFIX.read(options) or "").strip("/"),
            authorization=_authorization(options, owner),
            ca_file=CA_FILE.read(options),
            verifies=VERIFY.read(options),
            max_actions=MAX_ACTIONS.read(options),
            max_bytes=MAX_SIZE.read(options),
            pauses_ms=tuple(DELAY.read(options) * factor**turn for turn in range(times)),
            timeout_s=TIMEOUT.read(options) / 1000,
        )


def _authorization(options: Mapping[str, str], owner: str) -> str | None:
    name, password, key = USERNAME.read(options), PASSWORD.read(options), API_KEY.read(options)
    if key is not None:
        return f"ApiKey {key}"
    if (name is None) != (password is None):
        raise ErrorCode.INVALID_CONFIG.error(f"{owner}: 'username' and 'password' are given together or not at all.")
    return None if name is None else f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"


def _missing(owner: str, key: str, example: str) -> Exception:
    return ErrorCode.INVALID_TABLE.error(
        f"{owner}: the connector 'elasticsearch' needs the option '{key}', for example '{example}'."
    )
