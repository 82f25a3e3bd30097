"""Catalogs as Apache Fluss and Java's Iceberg name them, in the words of pyiceberg: a cluster tells of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from lakeward.errors import ErrorCode

#: Tables that are folders of the warehouse, each with its own numbered metadata; pyiceberg has no such catalog.
FOLDERS = "hadoop"
_CLASSES = {
    "org.apache.iceberg.hadoop.HadoopCatalog": FOLDERS,
    "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
    "org.apache.iceberg.aws.glue.GlueCatalog": "glue",
}
#: By which of Python's drivers the databases of JDBC are reached.
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}
#: Under this name Apache Fluss keeps its tables; a database may be the catalog of several.
_NAME = "fluss-iceberg-catalog"
_JDBC = re.compile(r"jdbc:(\w+):(.+)", re.DOTALL)


def python_catalog(properties: Mapping[str, str]) -> dict[str, str]:
    """The same catalog; what names none of Java's own stays as it is."""
    found = dict(properties)
    kind = found.get("type", "").lower() or _CLASSES.get(found.get("catalog-impl", ""), "")
    if not kind:
        return found
    found.pop("catalog-impl", None)
    found["type"] = kind
    if kind == "jdbc":
        found = {"name": _NAME} | found | {"type": "sql", "uri": _database(found)}
    if kind == FOLDERS and "warehouse" not in found:
        raise ErrorCode.INVALID_CONFIG.error(
            "A catalog of type 'hadoop' is the folders of a warehouse, and none is named: set "
            "'datalake.iceberg.warehouse'."
        )
    return found


def _database(properties: Mapping[str, str]) -> str:
    """Where SQLAlchemy finds the database of a JDBC catalog."""
    uri = properties.get("uri", "")
    jdbc = _JDBC.fullmatch(uri)
    if jdbc is None:
        return uri  # pyiceberg's own form, perhaps
    kind, place = jdbc.groups()
    if kind == "sqlite":
        return "sqlite:///" + place.removeprefix("file:").partition("?")[0]
    if kind not in _DRIVERS:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The lake's catalog is in a database that is not known here by JDBC's name, '{kind}': name it as "
            "SQLAlchemy does, with type=sql and uri=…"
        )
    host, _, rest = place.removeprefix("//").partition("/")
    user, password = (quote(properties.get(f"jdbc.{what}", ""), safe="") for what in ("user", "password"))
    login = f"{user}:{password}@" if user else ""
    return f"{_DRIVERS[kind]}://{login}{host}/{rest.partition('?')[0]}"
