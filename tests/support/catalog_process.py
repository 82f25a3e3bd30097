"""An Iceberg REST catalog in a process of its own, as `lakeward catalog serve` starts it."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

from service_process import AddressedProcess

_INSTALLING = Lock()
#: Homes of users that have DuckDB's extensions; a test may have a home of its own.
_homes: set[Path] = set()


def _install_extensions() -> None:
    import duckdb_extensions

    with _INSTALLING:
        if Path.home() not in _homes:
            for extension in ("avro", "iceberg", "httpfs"):
                duckdb_extensions.import_extension(extension)
            _homes.add(Path.home())


class CatalogProcess(AddressedProcess):
    """A catalog of one cluster on a free port; `url` is where it is."""

    def __init__(
        self, bootstrap: str, log_file: Path, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        super().__init__(["catalog", "serve", "--server", bootstrap, "--port", "0", *arguments], log_file, environment)

    def kill(self) -> None:
        """Kill it, as a machine that fails would."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, method: str, path: str, **given: Any) -> Any:
        """A request, and its answer."""
        import requests

        return requests.request(method, self.url + path, timeout=60, **given)

    # -- readers that never heard of us -------------------------------------------------------------------------------

    def pyiceberg(self, **properties: str) -> Any:
        """A catalog of pyiceberg's."""
        from pyiceberg.catalog import load_catalog

        return load_catalog(
            "rest", type="rest", uri=self.url, **{"oauth2-server-uri": f"{self.url}/v1/oauth/tokens", **properties}
        )

    def rows_by_pyiceberg(self, name: str | tuple[str, ...]) -> list[dict[str, Any]]:
        """All rows of a table, but for the system columns."""
        found = self.pyiceberg().load_table(name).scan().to_arrow()
        return [{k: v for k, v in row.items() if not k.startswith("__")} for row in found.to_pylist()]

    def duckdb(self) -> Any:
        """A connection of DuckDB's with the catalog attached as `lake`."""
        import duckdb

        _install_extensions()
        duck = duckdb.connect()
        duck.execute("SET autoinstall_known_extensions=false; LOAD avro; LOAD httpfs; LOAD iceberg")
        duck.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{self.url}', AUTHORIZATION_TYPE 'none')")
        return duck
