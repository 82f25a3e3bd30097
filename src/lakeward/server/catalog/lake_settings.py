"""What the cluster's options say of the lake, and what clients are told of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.model.table import TableDescriptor
from lakeward.options import remote_store
from lakeward.options import server as server_options
from lakeward.options import table as table_options
from lakeward.options.secrets import may_be_told, without_passwords
from lakeward.options.server_options import ServerOptions

PREFIX = "datalake."
_NOT_OF_A_FORMAT = {server_options.DATALAKE_ENABLED.key, server_options.DATALAKE_FORMAT.key}
#: How a bucket is reached: said once for remote storage, it holds for a lake in a bucket too.
_OF_A_BUCKET = (remote_store.S3_ENDPOINT, remote_store.S3_REGION, remote_store.S3_PATH_STYLE)
_WAREHOUSE = re.compile(r"datalake\.\w+\.warehouse")
_BUCKET_SCHEMES = ("s3://", "s3a://", "s3n://")


def may_be_tiered(options: ServerOptions) -> bool:
    """Whether tables may be tiered.

    Apache Fluss takes no lake table without the cluster's format. Here a table is a lake table before anybody knows its
    lake: the first tiering service brings it, and the format decides about keys only in tables that name it.
    """
    return options.get(server_options.DATALAKE_ENABLED) != "false"


def catalog_properties(options: ServerOptions) -> dict[str, str]:
    """The lake catalog's options as properties of a table, `table.datalake.<format>.*`, without secrets."""
    lake_format = options.get(server_options.DATALAKE_FORMAT) or _learned_format(options)
    if lake_format is None:
        return {}
    prefix = f"{PREFIX}{lake_format}."
    texts = {key: value for key, value in sorted(options.texts.items()) if key.startswith(prefix)}
    if texts.get(f"{prefix}warehouse", "").startswith(_BUCKET_SCHEMES):
        shared = {option.key: options.texts.get(option.key) for option in _OF_A_BUCKET}
        texts = {prefix + key: value for key, value in shared.items() if value is not None} | texts
    return {
        f"{table_options.PREFIX}{key}": without_passwords(value)
        for key, value in texts.items()
        if may_be_told(key.removeprefix(prefix))
    }


def _learned_format(options: ServerOptions) -> str | None:
    """The format of the lake that a tiering service has told of, `datalake.<format>.warehouse`, and nobody else."""
    return next((key.split(".")[1] for key in sorted(options.texts) if _WAREHOUSE.fullmatch(key)), None)


def is_lake_table(descriptor: TableDescriptor) -> bool:
    """Whether a table is tiered into the lake."""
    return table_options.LAKE_ENABLED.read(descriptor.properties)


def public_properties(descriptor: TableDescriptor, catalog: Mapping[str, str]) -> dict[str, str]:
    """A table's properties as clients see them: those of a lake table name its catalog too."""
    properties = {key: value for key, value in descriptor.properties.items() if _is_public(key)}
    return {**properties, **catalog} if is_lake_table(descriptor) else properties


def _is_public(key: str) -> bool:
    """Whether a table's own property may be told: all but those of a lake catalog that are not on the list."""
    if key in table_options.TABLE_OPTIONS.rows or not key.startswith(f"{table_options.PREFIX}{PREFIX}"):
        return True
    return may_be_told(key.removeprefix(f"{table_options.PREFIX}{PREFIX}").partition(".")[2])


def check_lake_settings(options: ServerOptions) -> None:
    """Refuse lake options that do not fit together."""
    lake_format = options.get(server_options.DATALAKE_FORMAT)
    if lake_format is None:
        if options.get(server_options.DATALAKE_ENABLED) == "true":
            raise ErrorCode.CONFIG.error(
                f"'{server_options.DATALAKE_ENABLED.key}' cannot be true while"
                f" '{server_options.DATALAKE_FORMAT.key}' is not set."
            )
        return
    own = f"{PREFIX}{lake_format}."
    for key in options.texts:
        if key.startswith(PREFIX) and key not in _NOT_OF_A_FORMAT and not key.startswith(own):
            raise ErrorCode.CONFIG.error(
                f"'{key}' does not fit the lake format '{lake_format}', whose options begin with '{own}'."
            )
