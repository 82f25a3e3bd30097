"""A compacted changelog that lost a range: readers are told of it, and not of what was compacted away."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from damage import KINDS, segments_of
from server_process import ServerProcess

import lakeward
from lakeward.cli.main import cli


def test_a_range_given_up_is_told_from_what_was_compacted(tmp_path: Path) -> None:
    """Fillers of both kinds look alike to a client that only goes on after them."""
    with ServerProcess(tmp_path / "data", log__segment__file_size="2kb", kv__snapshot__interval="1h") as server:
        with lakeward.connect(server.bootstrap) as conn:
            conn.create_database("d")
            table = conn.create_table(
                "d.k",
                {"id": "INT NOT NULL", "name": "STRING"},
                primary_key=["id"],
                buckets=1,
                properties={"table.log.compaction.enabled": "true"},
            )
            for life in range(12):
                table.upsert([{"id": key, "name": f"life {life}"} for key in range(20)])
        server.stop()
        KINDS["flipped row"](segments_of(server.data_dir)[1])
        told = CliRunner().invoke(cli, ["verify", "--data-dir", str(server.data_dir), "-o", "json"])
        (damaged,) = json.loads(told.stdout)["damaged"]
        assert CliRunner().invoke(cli, damaged["remedy"].split()[1:]).exit_code == 0
        server.start()
        with lakeward.connect(server.bootstrap) as conn:
            scan = conn.table("d.k").scan()
            assert scan.to_arrow().num_rows
            assert [(one.start, one.stop) for one in scan.left_out] == [(damaged["first"], damaged["end"])]
