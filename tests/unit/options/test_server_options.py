"""What a server is started with."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import server
from lakeward.options.server_options import ServerOptions, Source


def test_the_command_line_wins_over_the_file() -> None:
    """Each setting knows where it came from."""
    options = ServerOptions.of({"default.bucket.number": 3, "max.bucket.num": 10}, ["default.bucket.number=5"])
    assert options.get(server.DEFAULT_BUCKET_NUMBER) == 5
    assert options.get(server.MAX_BUCKET_NUM) == 10
    assert options.sources == {"default.bucket.number": Source.COMMAND_LINE, "max.bucket.num": Source.FILE}


def test_the_environment_stands_between_file_and_command_line() -> None:
    """FLUSS_PROPERTIES wins over the file, and -D over both."""
    file, environment = {"default.bucket.number": 3, "max.bucket.num": 10}, {"default.bucket.number": "4"}
    assert ServerOptions.of(file, [], environment).sources["default.bucket.number"] is Source.ENVIRONMENT
    assert ServerOptions.of(file, [], environment).get(server.DEFAULT_BUCKET_NUMBER) == 4
    assert ServerOptions.of(file, ["default.bucket.number=5"], environment).get(server.DEFAULT_BUCKET_NUMBER) == 5


def test_yaml_may_be_nested_and_typed() -> None:
    """Maps are dotted keys, booleans and lists are written as text, null is unset."""
    options = ServerOptions.of(
        {
            "log": {"segment": {"file-size": "10mb"}, "retention.roll-active-segment.enabled": True},
            "remote.data": {"dir": "/a", "dirs": ["/a", "/b"]},
            "datalake.format": None,
        }
    )
    assert options.get(server.LOG_SEGMENT_SIZE) == 10 << 20
    assert options.get(server.LOG_ROLL_EXPIRED) is True
    assert options.texts["remote.data.dirs"] == "/a,/b"
    assert options.get(server.DATALAKE_FORMAT) is None


def test_names_of_older_guides_are_accepted() -> None:
    """They are shown under their canonical names."""
    options = ServerOptions.of({"log.segment.bytes": 1024, "bucket.num": 2, "log.roll.hours": 1})
    assert dict(options.texts) == {
        "log.segment.file-size": "1024",
        "default.bucket.number": "2",
        "log.roll-interval": "1 h",
    }


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("log.segmnt.file-size", "'log.segment.file-size'"),
        ("netty.server.max-request-sise", "'netty.server.max-request-size'"),
        ("table.log.ttl", "property of tables"),
        ("log.retention.hours", "property of tables"),
    ],
)
def test_an_unknown_key_is_refused_with_a_hint(key: str, hint: str) -> None:
    """A misspelt setting must not be ignored."""
    with pytest.raises(LakewardError, match=hint) as refused:
        ServerOptions.of({key: "1"})
    assert refused.value.code is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("pair", ["novalue", "=1", ""])
def test_a_pair_needs_a_key_and_an_equals_sign(pair: str) -> None:
    """What cannot be a setting is refused."""
    with pytest.raises(LakewardError, match="key=value"):
        ServerOptions.of(pairs=[pair])


def test_an_apache_configuration_starts_our_server() -> None:
    """What only Apache Fluss needs is accepted without effect."""
    ServerOptions.of(
        {
            "zookeeper.address": "localhost:2181",
            "coordinator.port": 9123,
            "tablet-server.id": 0,
            "kv.rocksdb.thread.num": 4,
            "remote.log.task-interval-duration": "1min",
            "s3.endpoint": "http://localhost:9000",
        }
    )


def test_advertised_listeners_replace_bound_ones_by_name() -> None:
    """Clients are told the advertised address where there is one."""
    options = ServerOptions.of(
        {"bind.listeners": "FLUSS://0.0.0.0:9123,OUT://0.0.0.0:9124", "advertised.listeners": "OUT://example.org:443"}
    )
    assert {name: str(e) for name, e in options.advertised_listeners().items()} == {
        "FLUSS": "FLUSS://0.0.0.0:9123",
        "OUT": "OUT://example.org:443",
    }
    with pytest.raises(LakewardError, match="'NONE'"):
        ServerOptions.of({"advertised.listeners": "NONE://x:1"})


def test_remote_data_lives_below_the_data_directory_unless_told() -> None:
    """The default place for remote data is next to the data."""
    assert ServerOptions.of({"data.dir": "/data"}).remote_data_dir() == "/data/remote"
    assert ServerOptions.of({"remote.data.dir": "s3://b/x"}).remote_data_dir() == "s3://b/x"


def test_several_remote_directories_are_no_remote_directory() -> None:
    """Who names only them is refused at the start, not left without copies."""
    several = "remote.data.dirs=/a,/b"
    with pytest.raises(LakewardError, match=r"nothing would be copied. Set 'remote\.data\.dir' to one of them"):
        ServerOptions.of(pairs=[several])
    assert ServerOptions.of(pairs=[several, "remote.data.dir=/a"]).remote_data_dir() == "/a"
