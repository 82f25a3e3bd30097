"""How new rows may meet old ones: merge engines and deletes."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.data_types import TypeRoot
from lakeward.model.table import TableDescriptor
from lakeward.options import table as table_options
from lakeward.server.coordinator.tables.aggregate_rules import check_aggregates

_VERSION_TYPES = frozenset({TypeRoot.INTEGER, TypeRoot.BIGINT, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_invalid_config = ErrorCode.INVALID_CONFIG.error


def check_merge_engine(descriptor: TableDescriptor) -> None:
    """Refuse a merge engine that the table's keys and columns cannot serve."""
    engine = table_options.MERGE_ENGINE.read(descriptor.properties)
    if engine != "aggregation":
        check_aggregates(descriptor.schema, aggregating=False)
    if engine is None:
        return
    if not descriptor.has_primary_key:
        raise _invalid_config("Merge engine is only supported in primary key table.")
    if engine == "versioned":
        _check_version_column(descriptor)
    if engine == "aggregation":
        if table_options.CHANGELOG_IMAGE.read(descriptor.properties) == "WAL":
            raise _invalid_config(
                "Table with 'AGGREGATION' merge engine does not support 'WAL' changelog image mode. Aggregation merge"
                " engine tables require FULL changelog image mode for correct UNDO recovery. Please set"
                f" '{table_options.CHANGELOG_IMAGE.key}' to 'FULL' or remove the setting."
            )
        check_aggregates(descriptor.schema, aggregating=True)


def _check_version_column(descriptor: TableDescriptor) -> None:
    name = table_options.MERGE_VERSION_COLUMN.read(descriptor.properties)
    if name is None:
        raise _invalid_config(f"'{table_options.MERGE_VERSION_COLUMN.key}' must be set for versioned merge engine.")
    if name not in descriptor.schema.positions:
        raise _invalid_config(f"The version column '{name}' for versioned merge engine doesn't exist in schema.")
    type_ = descriptor.schema.column(name).type
    if type_.root not in _VERSION_TYPES:
        raise _invalid_config(
            f"The version column '{name}' for versioned merge engine must be one type of [INT, BIGINT, TIMESTAMP,"
            f" TIMESTAMP_LTZ], but got {type_}."
        )


def check_deletes(descriptor: TableDescriptor) -> None:
    """Refuse a delete behaviour that the table cannot have."""
    key = table_options.DELETE_BEHAVIOR.key
    if key not in descriptor.properties:
        return
    if not descriptor.has_primary_key:
        raise _invalid_config(f"The '{key}' configuration is only supported for primary key tables.")
    engine = table_options.MERGE_ENGINE.read(descriptor.properties)
    if engine in {"first_row", "versioned"} and table_options.DELETE_BEHAVIOR.read(descriptor.properties) == "ALLOW":
        raise _invalid_config(
            f"Table with '{engine.upper()}' merge engine does not support delete operations. The '{key}' config must be"
            " set to 'ignore' or 'disable', but got 'allow'."
        )
