"""Names of pyiceberg that promise nothing, and on which we rely: private ones, and the shapes of what we override.

pyiceberg writes no delete files yet, replaces none, and has no catalog in a bucket; our classes that do are subclasses
of its own. Here stands what they stand on, so that another pyiceberg is refused by name, and not by a traceback in the
middle of a round.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple


class ForeignName(NamedTuple):
    """Something of a class or a module: an attribute, or with parameters a function."""

    owner: str
    name: str
    parameters: str | None
    what_for: str

    @property
    def full_name(self) -> str:
        """With module and class."""
        return f"{self.owner}.{self.name}"


_PRODUCER = "pyiceberg.table.update.snapshot._FastAppendFiles"
_WRITER = "pyiceberg.manifest.ManifestWriterV2"
_TRANSACTION = "pyiceberg.table.Transaction"
_CATALOG = "pyiceberg.catalog.MetastoreCatalog"
_ARROW = "pyiceberg.io.pyarrow"

RELIED_ON = (
    *(
        ForeignName(_PRODUCER, name, parameters, "snapshots that add and remove files (file_changes)")
        for name, parameters in (
            ("__init__", "operation transaction io commit_uuid snapshot_properties branch"),
            ("_manifests", ""),
            ("_existing_manifests", ""),
            ("_summary", "snapshot_properties"),
            ("_commit", ""),
            ("_validate_concurrency", ""),
            ("new_manifest_output", ""),
            ("schema", ""),
            ("spec", "spec_id"),
            ("_added_data_files", None),
            ("_compression", None),
            ("_deleted_data_files", None),
            ("_io", None),
            ("_operation", None),
            ("_parent_snapshot_id", None),
            ("_snapshot_id", None),
            ("_starting_snapshot_id", None),
            ("_transaction", None),
        )
    ),
    ForeignName(_WRITER, "__init__", "spec schema output_file snapshot_id avro_compression", "manifests of deletes"),
    ForeignName(_WRITER, "content", "", "manifests of deletes"),
    ForeignName(_WRITER, "_meta", None, "manifests of deletes"),
    ForeignName(_TRANSACTION, "_table", None, "commits whose time does not grow (remembering_transaction)"),
    ForeignName(_TRANSACTION, "_updates", None, "commits whose time does not grow (remembering_transaction)"),
    ForeignName(_TRANSACTION, "table_metadata", None, "commits whose time does not grow (remembering_transaction)"),
    ForeignName(
        "pyiceberg.table.update",
        "update_table_metadata",
        "base_metadata updates enforce_validation metadata_location",
        "commits whose time does not grow (remembering_transaction)",
    ),
    *(
        ForeignName(
            f"pyiceberg.table.snapshots.{kind}",
            "__deepcopy__",
            None,
            "commits whose time does not grow (remembering_transaction)",
        )
        for kind in ("Snapshot", "SnapshotLogEntry")
    ),
    ForeignName(
        _CATALOG,
        "_update_and_stage_table",
        "current_table table_identifier requirements updates",
        "tables in a bucket (bucket_catalog)",
    ),
    ForeignName(_CATALOG, "_load_file_io", "properties location", "tables in a bucket (bucket_catalog)"),
    ForeignName(
        _CATALOG,
        "_create_staged_table",
        "identifier schema location partition_spec sort_order properties",
        "tables of others (other_changes)",
    ),
    ForeignName(_ARROW, "compute_statistics_plan", "schema table_properties", "bounds of columns (file_statistics)"),
    ForeignName(_ARROW, "parquet_path_to_id_mapping", "schema", "bounds of columns (file_statistics)"),
    ForeignName("pyiceberg.avro.codecs", "KNOWN_CODECS", None, "manifests in codecs of others (avro_file)"),
)


def what_broke() -> list[str]:
    """What is not there as we know it, and what for; nothing where all is well."""
    return list(_differences())


def _differences() -> Iterator[str]:
    for relied in RELIED_ON:
        try:
            owner = _owner(relied.owner)
        except (ImportError, AttributeError):
            yield f"{relied.owner} is not there, needed for {relied.what_for}"
            continue
        found = getattr(owner, relied.name, None)
        if found is None and not _is_announced(owner, relied.name):
            yield f"{relied.full_name} is not there, needed for {relied.what_for}"
        elif relied.parameters is not None and (told := _parameters(found)) != relied.parameters.split():
            yield (
                f"{relied.full_name} takes ({', '.join(told)}) instead of ({', '.join(relied.parameters.split())}), "
                f"needed for {relied.what_for}"
            )


def _owner(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name) if name[0] == "_" or name[0].isupper() else import_module(path)


def _is_announced(owner: Any, name: str) -> bool:
    """Whether objects have it, by what their class says of them."""
    return any(name in inspect.get_annotations(kind) for kind in getattr(owner, "__mro__", ()))


def _parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"] if callable(function) else []
