"""pg_catalog and information_schema as rows: schemas are the cluster's databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.model.table import TableInfo
from lakeward.query.duckdb.duck_types import duck_schema
from lakeward.query.read.read import result_schema
from lakeward.query.request.request import ReadRequest
from lakeward.sql_server.postgres.codec.pg_types import ARRAYS, TYPES, modifier_of, oid_of, receiver_of

#: Lists that are written `1 2`, and whose first place is 0.
VECTOR = pa.list_(pa.int16())
_FIRST_OID = 16384
_OWNER = 10
_NO_FIELD = pa.field("", pa.string())
_PG, _PUBLIC, _INFORMATION = 11, 2200, 13000


def catalog_tables(
    infos: Sequence[TableInfo], databases: Sequence[str], user: str, name: str, settings: Mapping[str, str]
) -> dict[str, pa.Table]:
    """Every table that has rows, by `pgc.…` and `ischema.…`."""
    spaces = {"pg_catalog": _PG, "public": _PUBLIC, "information_schema": _INFORMATION}
    spaces |= {database: _FIRST_OID + n for n, database in enumerate(databases) if database not in spaces}
    first = _FIRST_OID + len(databases)
    tables = [(first + 2 * n, spaces[info.path.database], info) for n, info in enumerate(infos)]
    columns = [(oid, info, at, field) for oid, _, info in tables for at, field in enumerate(_fields(info), 1)]
    keyed = [(oid, space, info) for oid, space, info in tables if info.schema.primary_key]
    return {
        "pgc.pg_namespace": _rows([_space(oid, name_) for name_, oid in spaces.items()]),
        "pgc.pg_class": _rows([*_classes(tables, user), _class(1, _PG, "", "?", 0)]),
        "pgc.pg_attribute": _rows(
            [*(_attribute(*c) for c in (*columns, *_key_columns(keyed))), _attribute(1, None, 0, _NO_FIELD)]
        ),
        "pgc.pg_type": _rows(_types()),
        "pgc.pg_index": _vectors(_rows([*(_index(oid, info) for oid, _, info in keyed), _index(0, None)])),
        "pgc.pg_constraint": _rows([*(_constraint(*k) for k in keyed), _constraint(0, 0, None)]),
        "pgc.pg_description": _rows([*(_comment(oid, i.descriptor.comment) for oid, _, i in tables), _comment(0, "")]),
        "pgc.pg_database": _rows([_database(name)]),
        "pgc.pg_roles": _rows([_role(user)]),
        "pgc.pg_settings": _rows([_setting(key, value) for key, value in sorted(settings.items())]),
        "pgc.pg_am": _rows([_method(2, "heap", "t"), _method(403, "btree", "i")]),
        "ischema.tables": _rows([_table(name, info) for info in [*infos, None]]),
        "ischema.columns": _rows([*(_column(name, *c[1:]) for c in columns), _column(name, None, 0, _NO_FIELD)]),
        "ischema.schemata": _rows([{"catalog_name": name, "schema_name": s, "schema_owner": user} for s in spaces]),
        "ischema.key_column_usage": _rows([*_keys(name, keyed), _key(name, None, 0, "")]),
        "ischema.table_constraints": _rows([_key_constraint(name, info) for info in [*(k[2] for k in keyed), None]]),
    }


def _rows(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def _vectors(rows: pa.Table) -> pa.Table:
    """Lists of numbers as what Postgres calls vectors, which are told apart by their type."""
    return rows.cast(pa.schema([f.with_type(VECTOR) if f.type == pa.list_(pa.int64()) else f for f in rows.schema]))


def _space(oid: int, name: str) -> dict[str, Any]:
    return {"oid": oid, "nspname": name, "nspowner": _OWNER, "nspacl": [""]}


def _classes(tables: Sequence[tuple[int, int, TableInfo]], user: str) -> Iterator[dict[str, Any]]:
    """Tables, and an index for each that has a key."""
    for oid, space, info in tables:
        keys = len(info.schema.primary_key)
        yield _class(oid, space, info.path.table, "r", len(_fields(info)), keys > 0, f"{user}=r/{user}")
        if keys:
            yield _class(oid + 1, space, f"{info.path.table}_pkey", "i", keys)


def _key_columns(keyed: Sequence[tuple[int, int, TableInfo]]) -> Iterator[tuple[int, TableInfo, int, pa.Field]]:
    """Indexes have columns as tables do."""
    for oid, _, info in keyed:
        fields = _fields(info)
        for at, key in enumerate(info.schema.primary_key, 1):
            yield oid + 1, info, at, fields.field(key)


def _types() -> list[dict[str, Any]]:
    plain = [_type(one.oid, one.name, one.size, one.array, 0) for one in TYPES.values()]
    return plain + [_type(array, f"_{one.name}", -1, 0, one.oid) for array, one in ARRAYS.items()]


def _comment(oid: int, text: str | None) -> dict[str, Any]:
    return {"objoid": oid if text else 0, "classoid": 1259, "objsubid": 0, "description": text or ""}


def _keys(catalog: str, keyed: Sequence[tuple[int, int, TableInfo]]) -> list[dict[str, Any]]:
    return [_key(catalog, info, at, key) for _, _, info in keyed for at, key in enumerate(info.schema.primary_key, 1)]


def _fields(info: TableInfo) -> pa.Schema:
    return duck_schema(result_schema(info.schema, ReadRequest.of_name(str(info.path))))


def _class(
    oid: int, space: int, name: str, kind: str, columns: int, has_key: bool = False, may: str = ""
) -> dict[str, Any]:
    return {
        "oid": oid, "relname": name, "relnamespace": space, "reltype": oid, "reloftype": 0, "relowner": _OWNER,
        "relam": 2 if kind == "r" else 403, "relfilenode": oid, "reltablespace": 0, "relpages": 0, "reltuples": -1.0,
        "relallvisible": 0, "reltoastrelid": 0, "relhasindex": has_key, "relisshared": False, "relpersistence": "p",
        "relkind": kind, "relnatts": columns, "relchecks": 0, "relhasrules": False, "relhastriggers": False,
        "relhassubclass": False, "relrowsecurity": False, "relforcerowsecurity": False, "relispopulated": True,
        "relreplident": "d", "relispartition": False, "relrewrite": 0, "relacl": [may], "reloptions": [""],
        "relpartbound": "",
    }  # fmt: skip


def _attribute(oid: int, info: TableInfo | None, at: int, field: pa.Field) -> dict[str, Any]:
    number = oid_of(field.type)
    return {
        "attrelid": oid, "attname": field.name, "atttypid": number, "attstattarget": -1,
        "attlen": TYPES[number].size if number in TYPES else -1, "attnum": at, "attndims": int(number in ARRAYS),
        "atttypmod": modifier_of(field.type), "attnotnull": info is not None and not field.nullable, "atthasdef": False,
        "atthasmissing": False, "attidentity": "", "attgenerated": "", "attisdropped": False, "attislocal": True,
        "attinhcount": 0, "attcollation": 0, "attstorage": "p", "attcompression": "", "attacl": [""],
        "attoptions": [""], "attfdwoptions": [""],
    }  # fmt: skip


def _type(oid: int, name: str, size: int, array: int, element: int) -> dict[str, Any]:
    return {
        "oid": oid, "typname": name, "typnamespace": _PG, "typowner": _OWNER, "typlen": size, "typbyval": size > 0,
        "typtype": "b", "typcategory": "A" if element else "S", "typispreferred": False, "typisdefined": True,
        "typdelim": ",", "typrelid": 0, "typsubscript": 0, "typelem": element, "typarray": array,
        "typinput": 750 if element else 0, "typoutput": 0,
        "typreceive": receiver_of(oid), "typsend": receiver_of(oid),
        "typnotnull": False, "typbasetype": 0, "typtypmod": -1, "typndims": 0, "typcollation": 0,
        "typdefault": "", "typacl": "",
    }  # fmt: skip


def _places(info: TableInfo | None) -> list[int]:
    if info is None:
        return [0]
    names = [field.name for field in _fields(info)]
    return [names.index(key) + 1 for key in info.schema.primary_key]


def _index(oid: int, info: TableInfo | None) -> dict[str, Any]:
    places = _places(info)
    return {
        "indexrelid": oid + 1, "indrelid": oid, "indnatts": len(places), "indnkeyatts": len(places),
        "indisunique": True, "indnullsnotdistinct": False, "indisprimary": True, "indisexclusion": False,
        "indimmediate": True, "indisclustered": False, "indisvalid": True, "indcheckxmin": False, "indisready": True,
        "indislive": True, "indisreplident": False, "indkey": places, "indcollation": [0] * len(places),
        "indclass": [0] * len(places), "indoption": [0] * len(places), "indexprs": "", "indpred": "",
    }  # fmt: skip


def _constraint(oid: int, space: int, info: TableInfo | None) -> dict[str, Any]:
    return {
        "oid": oid + 1, "conname": "" if info is None else f"{info.path.table}_pkey", "connamespace": space,
        "contype": "p" if info is not None else "?", "condeferrable": False, "condeferred": False,
        "convalidated": True, "conrelid": oid, "contypid": 0, "conindid": oid + 1, "conparentid": 0, "confrelid": 0,
        "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": True, "coninhcount": 0,
        "connoinherit": True, "conkey": _places(info), "confkey": [0], "conbin": "",
        "definition": "" if info is None else f"PRIMARY KEY ({', '.join(info.schema.primary_key)})",
    }  # fmt: skip


def _database(name: str) -> dict[str, Any]:
    return {
        "oid": 5, "datname": name, "datdba": _OWNER, "encoding": 6, "datlocprovider": "c", "datistemplate": False,
        "datallowconn": True, "datconnlimit": -1, "dattablespace": 1663, "datcollate": "C", "datctype": "C",
        "daticulocale": "", "daticurules": "", "datcollversion": "", "datacl": [""],
    }  # fmt: skip


def _role(user: str) -> dict[str, Any]:
    return {
        "oid": _OWNER, "rolname": user, "rolsuper": False, "rolinherit": True, "rolcreaterole": False,
        "rolcreatedb": False, "rolcanlogin": True, "rolreplication": False, "rolconnlimit": -1, "rolpassword": "",
        "rolvaliduntil": "", "rolbypassrls": False, "rolconfig": "",
    }  # fmt: skip


def _method(oid: int, name: str, kind: str) -> dict[str, Any]:
    return {"oid": oid, "amname": name, "amtype": kind, "amhandler": 0}


def _setting(name: str, value: str) -> dict[str, Any]:
    return {
        "name": name, "setting": value, "unit": "", "category": "", "short_desc": "", "extra_desc": "",
        "context": "user", "vartype": "string", "source": "default", "min_val": "", "max_val": "", "enumvals": "",
        "boot_val": value, "reset_val": value, "sourcefile": "", "sourceline": 0, "pending_restart": False,
    }  # fmt: skip


def _of(info: TableInfo | None, catalog: str) -> dict[str, Any]:
    database, table = ("", "") if info is None else (info.path.database, info.path.table)
    return {"table_catalog": catalog, "table_schema": database, "table_name": table}


def _table(catalog: str, info: TableInfo | None) -> dict[str, Any]:
    return {**_of(info, catalog), "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO"}


def _column(catalog: str, info: TableInfo | None, at: int, field: pa.Field) -> dict[str, Any]:
    number = oid_of(field.type)
    is_decimal = pa.types.is_decimal(field.type)
    return {
        **_of(info, catalog), "column_name": field.name, "ordinal_position": at, "column_default": "",
        "is_nullable": "YES" if field.nullable else "NO",
        "data_type": "ARRAY" if number in ARRAYS else TYPES[number].sql,
        "character_maximum_length": None, "numeric_precision": field.type.precision if is_decimal else None,
        "numeric_scale": field.type.scale if is_decimal else None, "datetime_precision": None,
        "udt_catalog": catalog, "udt_schema": "pg_catalog",
        "udt_name": f"_{ARRAYS[number].name}" if number in ARRAYS else TYPES[number].name,
        "is_identity": "NO", "is_generated": "NEVER", "is_updatable": "NO",
    }  # fmt: skip


def _key_constraint(catalog: str, info: TableInfo | None) -> dict[str, Any]:
    of = _of(info, catalog)
    return {
        "constraint_catalog": catalog, "constraint_schema": of["table_schema"],
        "constraint_name": f"{of['table_name']}_pkey", **of, "constraint_type": "PRIMARY KEY" if info else "",
        "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES",
    }  # fmt: skip


def _key(catalog: str, info: TableInfo | None, at: int, column: str) -> dict[str, Any]:
    of = _of(info, catalog)
    return {
        "constraint_catalog": catalog, "constraint_schema": of["table_schema"],
        "constraint_name": f"{of['table_name']}_pkey", **of, "column_name": column, "ordinal_position": at,
        "position_in_unique_constraint": None,
    }  # fmt: skip
