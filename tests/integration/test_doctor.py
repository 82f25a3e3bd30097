"""Real servers with real faults, and the sentence that `lakeward doctor` has for each."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from damage import flip
from eventually import eventually
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.cli.main import cli
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.watch.status_table import StatusTable, read_statuses

pytestmark = pytest.mark.timeout(300)
_PATIENT = ("--timeout", "100")
_ROOM = {"server__data_disk__write_limit_ratio": "1"}


def doctor(server: str, *arguments: str, **environ: str) -> Result:
    """What the command prints, and how it ends."""
    return CliRunner().invoke(cli, ["doctor", *_PATIENT, *arguments], env={"LAKEWARD_SERVER": server, **environ})


def findings(result: Result) -> dict[tuple[str, str], str]:
    """What is wrong, by check and severity, several of a kind joined."""
    found: dict[tuple[str, str], str] = {}
    for one in json.loads(result.stdout)["findings"]:
        key = one["check"], one["severity"]
        found[key] = f"{found.get(key, '')}{one['what']} {one['do']}\n"
    return found


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with everything wrong that can be made wrong."""
    place = tmp_path_factory.mktemp("troubled")
    options = {
        "bind__listeners": "FLUSS://localhost:0,ALL://0.0.0.0:0",
        "log__segment__file_size": "10kb",
        "log__scrub__interval": "100ms",
        "log__scrub__rate": "100mb",
        **_ROOM,
    }
    with ServerProcess(place / "data", **options) as server, lakeward.connect(server.bootstrap) as conn:
        conn.create_database("shop")
        _make_tables(conn)
        _rot(server)
        _fail_to_tier(conn, server, place / "lake")
        conn.set_cluster_options(
            {"server.data-disk.write-limit-ratio": "0.002", "server.data-disk.write-recover-ratio": "0.001"}
        )
        assert eventually(lambda: _health(server)["status"] == "read-only" and "damaged" in _health(server))
        yield server


def _make_tables(conn: lakeward.Connection) -> None:
    skewed = conn.create_table("shop.skewed", "user_id BIGINT, n BIGINT", bucket_by=["user_id"], buckets=4)
    skewed.append([{"user_id": 7, "n": n} for n in range(20_000)])
    brief = {**TIERED, "table.log.ttl": "30 s", "table.datalake.freshness": "60 s"}
    paused = {"lakeward.tiering.paused": "true"}
    conn.create_table("shop.brief", "n BIGINT", properties=brief, custom_properties=paused)
    rotten = conn.create_table("shop.rotten", "n BIGINT, s STRING")
    for n in range(6):
        rotten.append([{"n": n, "s": f"{n * i * 2_654_435_761:064x}"} for i in range(200)])


def _rot(server: ServerProcess) -> None:
    segments = sorted(server.data_dir.glob("shop/rotten-*/log-0/*.log"))
    assert len(segments) > 1  # all but the last are closed
    flip(segments[0], 500)


def _fail_to_tier(conn: lakeward.Connection, server: ServerProcess, warehouse: Path) -> None:
    """A round that succeeds, then a lake that is gone, and a service that finds out."""
    table = conn.create_table("shop.tiered", "n BIGINT", properties=TIERED)
    table.append([{"n": 1}])
    lake = Warehouse(server.bootstrap, warehouse)
    lake.round(table)
    warehouse.rename(warehouse.with_name("gone"))
    warehouse.write_text("no directory any more")
    table.append([{"n": 2}])
    watcher = StatusTable(lake.conn, SystemClock())
    service = lake.service(watcher)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        assert eventually(lambda: _is_failed(conn))
    finally:
        service.stop()
        thread.join()
        watcher.close()
        lake.close()


def _is_failed(conn: lakeward.Connection) -> bool:
    status = read_statuses(conn).get("shop.tiered")
    return status is not None and status.state == "failed"


def _health(server: ServerProcess) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{server.bootstrap}/health") as answer:
        document: dict[str, Any] = json.load(answer)
    return document


def test_every_fault_has_its_sentence(troubled: ServerProcess) -> None:
    """Disk, damage, tiering, lake, skew, retention and an open door, all at once; the worst first."""
    result = doctor(troubled.bootstrap, "-o", "json", "--data-dir", str(troubled.data_dir))
    assert result.exit_code == 1, result.output
    found = findings(result)
    assert "no writes until it is below 0 %" in found["disk", "error"]
    assert "of shop.rotten 0 cannot be read" in found["damaged-segments", "error"]
    assert "lakeward repair shop.rotten 0" in found["damaged-segments", "error"]
    assert "The last round of shop.tiered failed" in found["tiering-failing", "error"]
    assert "tried with shop.tiered" in found["lake-unreachable", "error"]
    assert "got 20,000 of 20,000 rows" in found["bucket-skew", "warning"]
    assert "Rows of shop.brief are kept for 30 seconds" in found["retention", "error"]
    assert "The listener ALL://0.0.0.0:0 asks nobody for a login" in found["open-listener", "error"]
    assert {check for check, _ in found}.isdisjoint({"port", "advertised-address", "clock", "data-directory"})
    document = json.loads(result.stdout)
    assert document["unchecked"] == []
    ranks = [("error", "warning", "note").index(one["severity"]) for one in document["findings"]]
    assert ranks == sorted(ranks)


def test_people_read_findings_first_and_counts_last(troubled: ServerProcess) -> None:
    """Without colours where there is no terminal."""
    result = doctor(troubled.bootstrap)
    assert result.exit_code == 1
    assert result.stdout.startswith("error     ")
    assert "\x1b" not in result.stdout
    assert "docs/guides/troubleshooting.md#disk" in result.stdout
    assert "checks made: " in result.stdout
    assert "Not checked: data-directory, file-system, secret-files; the server's machine" in result.stdout


@pytest.mark.long
def test_a_port_of_somebody_else_is_told(tmp_path: Path) -> None:
    """Nobody there, a web server, and something that is neither; none of it is an exception."""
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"127.0.0.1:{stranger.getsockname()[1]}"
        thread = threading.Thread(target=_greet, args=(stranger,), daemon=True)
        thread.start()
        result = CliRunner().invoke(cli, ["doctor", "--timeout", "4", "-o", "json"], env={"LAKEWARD_SERVER": address})
    assert result.exit_code == 1, result.output
    assert "It said: 'SSH-2.0-stranger'" in findings(result)["port", "error"]
    result = doctor(address, "-o", "json", "--data-dir", str(tmp_path))
    assert result.exit_code == 1
    found = findings(result)
    assert f"Nothing listens at {address}" in found["port", "error"]
    assert "no data directory of Lakeward" in found["data-directory", "error"]


def _greet(stranger: socket.socket) -> None:
    while True:
        try:
            client, _ = stranger.accept()
        except OSError:
            return
        with client:
            client.sendall(b"SSH-2.0-stranger\r\n")


SECRETS = {
    "security__sasl__plain__credentials": "alice:hush-plain-4711,bob:hush-other-4711",
    "security__sasl__plain__jaas__config": 'org.apache.X required user_carol="hush-jaas-4711";',
    "datalake__iceberg__s3__secret_access_key": "hush-lake-4711",
    "s3__secret_key": "hush-store-4711",
}
_HUSH = ("hush-plain", "hush-other", "hush-jaas", "hush-lake", "hush-store", "hush-log", "hush-row")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that was given secrets in every way there is, and has rows."""
    place = tmp_path_factory.mktemp("guarded")
    options = {
        "bind__listeners": "CLIENT://localhost:0",
        "security__protocol__map": "CLIENT:SASL",
        **SECRETS,
        **_ROOM,
    }
    with ServerProcess(place / "data", **options) as server:
        with lakeward.connect(server.bootstrap, user="alice", password="hush-plain-4711") as conn:
            table = conn.create_table("fluss.t", "s STRING")
            table.append([{"s": "hush-row-4711"}])
        yield server


def test_a_bundle_holds_no_secret_and_no_row(guarded: ServerProcess, tmp_path: Path) -> None:
    """Everything else that a maintainer asks for is in it, for its owner alone."""
    log = tmp_path / "server.log"
    log.write_text(f"{guarded.log_text}\nstarted with password=hush-log-4711\n")
    login = {"LAKEWARD_USER": "alice", "LAKEWARD_PASSWORD": "hush-plain-4711"}
    arguments = ("--bundle", str(tmp_path / "b.zip"), "--log", str(log), "--data-dir", str(guarded.data_dir))
    result = doctor(guarded.bootstrap, *arguments, **login)
    assert result.exit_code in {0, 1}, result.output
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert [(name, word) for name, text in texts.items() for word in _HUSH if word in text] == []
    assert all(word not in result.output for word in _HUSH)
    assert (tmp_path / "b.zip").stat().st_mode & 0o077 == 0
    expected = {"findings.json", "machine.json", "options.json", "tiering.json", "groups.json", "health.json"}
    expected |= {"metrics.txt", "remote.json", "servers.json", "tables.json", "directory.txt", "audit.jsonl"}
    assert texts.keys() == expected | {"place.json", "log-1.txt", "jobs.json", "README.txt"}
    (table,) = json.loads(texts["tables.json"])
    assert table["schema"]["columns"][0]["name"] == "s"
    assert table["offsets"] == {"0": [0, 1]}
    assert json.loads(texts["options.json"])["security.sasl.plain.credentials"] == "******"
    assert "lakeward_connections" in texts["metrics.txt"]
    assert "alice" not in texts["metrics.txt"] + texts["audit.jsonl"]
    again = doctor(guarded.bootstrap, *arguments, **login)
    assert again.exit_code == 2
    assert "--force" in again.output


def test_who_is_not_let_in_could_not_look(guarded: ServerProcess) -> None:
    """Which is neither well nor wrong: exit code 2, and the reason."""
    login = {"LAKEWARD_USER": "alice", "LAKEWARD_PASSWORD": "hush-wrong-4711"}
    result = doctor(guarded.bootstrap, "-o", "json", **login)
    assert result.exit_code == 2, result.output
    document = json.loads(result.stdout)
    assert document["refusal"]
    assert "hush" not in result.output
