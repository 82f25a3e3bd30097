"""The catalogue of errors: wire code, sentence, and what the caller should do next.

    LakewardError                 something went wrong; `.code` says what
    ├── RetriableError            the same request may succeed later
    ├── NotFoundError             the database, table, partition or snapshot is not there
    ├── AlreadyExistsError        it is there already
    ├── InvalidError              the request is wrong; change it
    ├── CorruptError              bytes are damaged
    ├── DeniedError               not allowed, or not who you say you are
    └── UnsupportedError          this server cannot do that

Every code of the wire protocol is one row of `ErrorCode`; `code.error("…")` makes the exception.
"""

from __future__ import annotations

import enum
from typing import Self


class LakewardError(Exception):
    """Something went wrong. `code` is the wire code, `message` says what happened, to what, and what to do."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        self.code = code
        self.message = message or code.sentence
        super().__init__(self.message)


class RetriableError(LakewardError):
    """The same request may succeed later."""


class NotFoundError(LakewardError):
    """The database, table, partition or snapshot is not there."""


class AlreadyExistsError(LakewardError):
    """It is there already."""


class InvalidError(LakewardError):
    """The request is wrong; change it."""


class CorruptError(LakewardError):
    """Bytes are damaged, on the way or on disk. Asking again for them brings the same bytes."""


class DeniedError(LakewardError):
    """Not allowed, or not who you say you are."""


class UnsupportedError(LakewardError):
    """This server cannot do that."""


class ErrorCode(enum.Enum):
    """Wire code, exception raised for it, and the sentence shown when nothing better is known."""

    kind: type[LakewardError]
    sentence: str

    def __new__(cls, code: int, kind: type[LakewardError], sentence: str) -> Self:
        """One row of the catalogue."""
        member = object.__new__(cls)
        member._value_ = code
        member.kind = kind
        member.sentence = sentence
        return member

    UNKNOWN_SERVER_ERROR = -1, LakewardError, "The server met an unexpected error."
    NONE = 0, LakewardError, "No error."
    NETWORK = 1, RetriableError, "The connection broke before an answer came."
    UNSUPPORTED_VERSION = 2, UnsupportedError, "The server does not support this API or version."
    CORRUPT_MESSAGE = 3, CorruptError, "The message could not be read."
    DATABASE_NOT_EXIST = 4, NotFoundError, "The database does not exist."
    DATABASE_NOT_EMPTY = 5, InvalidError, "The database is not empty."
    DATABASE_ALREADY_EXIST = 6, AlreadyExistsError, "The database already exists."
    TABLE_NOT_EXIST = 7, NotFoundError, "The table does not exist."
    TABLE_ALREADY_EXIST = 8, AlreadyExistsError, "The table already exists."
    SCHEMA_NOT_EXIST = 9, RetriableError, "The schema does not exist."
    LOG_STORAGE = 10, RetriableError, "The log could not be read or written."
    KV_STORAGE = 11, RetriableError, "The key/value state could not be read or written."
    NOT_LEADER_OR_FOLLOWER = 12, RetriableError, "This server does not lead the bucket; refresh metadata."
    RECORD_TOO_LARGE = 13, InvalidError, "The record is too large."
    CORRUPT_RECORD = 14, CorruptError, "The record batch is damaged."
    INVALID_TABLE = 15, InvalidError, "The table definition is invalid."
    INVALID_DATABASE = 16, InvalidError, "The database definition is invalid."
    INVALID_REPLICATION_FACTOR = 17, InvalidError, "The replication factor cannot be met."
    INVALID_REQUIRED_ACKS = 18, InvalidError, "The acks value must be 0, 1 or -1."
    LOG_OFFSET_OUT_OF_RANGE = 19, InvalidError, "The offset is outside the log."
    NON_PRIMARY_KEY_TABLE = 20, InvalidError, "The table has no primary key."
    UNKNOWN_TABLE_OR_BUCKET = 21, RetriableError, "The table or bucket is not known here."
    INVALID_UPDATE_VERSION = 22, InvalidError, "The update is based on an old version."
    INVALID_COORDINATOR = 23, InvalidError, "The coordinator epoch is not current."
    FENCED_LEADER_EPOCH = 24, InvalidError, "The leader epoch is not current."
    REQUEST_TIME_OUT = 25, RetriableError, "The request timed out."
    STORAGE = 26, RetriableError, "The storage failed."
    OPERATION_NOT_ATTEMPTED = 27, InvalidError, "The operation was not attempted."
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 28, RetriableError, "Written, but to fewer replicas than required."
    NOT_ENOUGH_REPLICAS = 29, RetriableError, "Fewer replicas are in sync than required."
    SECURITY_TOKEN = 30, LakewardError, "No security token could be had for the file system."
    OUT_OF_ORDER_SEQUENCE = 31, InvalidError, "The batch sequence is out of order."
    DUPLICATE_SEQUENCE = 32, InvalidError, "The batch sequence was seen before."
    UNKNOWN_WRITER_ID = 33, InvalidError, "The writer id is not known."
    INVALID_COLUMN_PROJECTION = 34, InvalidError, "The column projection is invalid."
    INVALID_TARGET_COLUMN = 35, InvalidError, "The target columns are invalid."
    PARTITION_NOT_EXISTS = 36, NotFoundError, "The partition does not exist."
    TABLE_NOT_PARTITIONED = 37, InvalidError, "The table is not partitioned."
    INVALID_TIMESTAMP = 38, InvalidError, "The timestamp is invalid."
    INVALID_CONFIG = 39, InvalidError, "The configuration is invalid."
    LAKE_STORAGE_NOT_CONFIGURED = 40, InvalidError, "No lake storage is configured."
    KV_SNAPSHOT_NOT_EXIST = 41, NotFoundError, "The snapshot of the key/value state does not exist."
    PARTITION_ALREADY_EXISTS = 42, AlreadyExistsError, "The partition already exists."
    PARTITION_SPEC_INVALID = 43, InvalidError, "The partition is invalid."
    LEADER_NOT_AVAILABLE = 44, RetriableError, "The bucket has no leader now."
    PARTITION_MAX_NUM = 45, InvalidError, "The table has too many partitions."
    AUTHENTICATE = 46, DeniedError, "Authentication failed."
    SECURITY_DISABLED = 47, UnsupportedError, "Security is not enabled on this cluster."
    AUTHORIZATION = 48, DeniedError, "Not authorized."
    BUCKET_MAX_NUM = 49, InvalidError, "The table has too many buckets."
    FENCED_TIERING_EPOCH = 50, InvalidError, "The tiering epoch is not current."
    RETRIABLE_AUTHENTICATE = 51, RetriableError, "Authentication failed for now; try again."
    INVALID_SERVER_RACK_INFO = 52, InvalidError, "The server's rack is invalid."
    LAKE_SNAPSHOT_NOT_EXIST = 53, NotFoundError, "The lake snapshot does not exist."
    LAKE_TABLE_ALREADY_EXIST = 54, AlreadyExistsError, "The lake table already exists."
    INELIGIBLE_REPLICA = 55, InvalidError, "The replica is not eligible."
    INVALID_ALTER_TABLE = 56, InvalidError, "The change of the table is invalid."
    DELETION_DISABLED = 57, InvalidError, "Deletes are disabled for the table."
    SERVER_NOT_EXIST = 58, NotFoundError, "The server does not exist."
    SERVER_TAG_ALREADY_EXIST = 59, AlreadyExistsError, "The server has a tag already."
    SERVER_TAG_NOT_EXIST = 60, NotFoundError, "The server has no such tag."
    REBALANCE_FAILURE = 61, LakewardError, "The rebalance failed."
    NO_REBALANCE_IN_PROGRESS = 62, NotFoundError, "No rebalance is in progress."
    INVALID_PRODUCER_ID = 63, InvalidError, "The producer id is invalid."
    CONFIG = 64, InvalidError, "The cluster configuration is invalid."
    NOT_COORDINATOR_LEADER = 65, RetriableError, "This coordinator is not the leader."
    SCANNER_EXPIRED = 66, NotFoundError, "The scanner has expired."
    UNKNOWN_SCANNER_ID = 67, NotFoundError, "The scanner is not known."
    INVALID_SCAN_REQUEST = 68, InvalidError, "The scan request is invalid."
    TOO_MANY_SCANNERS = 69, RetriableError, "Too many scanners are open."
    DISK_WRITE_LOCKED = 70, RetriableError, "The disk is locked for writes."
    INSUFFICIENT_KV_LEADER_REPLICA_CAPACITY = 71, InvalidError, "No capacity is left for key/value leaders."
    STORAGE_BACKPRESSURE = 72, RetriableError, "The storage is under pressure; slow down."
    HISTORICAL_PARTITION_THROTTLED = 73, RetriableError, "Lookups in historical partitions are throttled."

    def error(self, message: str | None = None) -> LakewardError:
        """The exception for this code, ready to raise; the stack trace of a Java server is left out."""
        return self.kind(self, message and message.partition(_JAVA_STACK)[0])

    @classmethod
    def of_wire(cls, code: int) -> ErrorCode:
        """The row for a code from the wire; a code we do not know is an unexpected error."""
        return _BY_CODE.get(code, cls.UNKNOWN_SERVER_ERROR)


_JAVA_STACK = "\n\tat "
_BY_CODE = {row.value: row for row in ErrorCode}
