"""How a bucket is reached, under the names people know."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.options.remote_store import REMOTE_STORE_OPTIONS
from lakeward.options.server import SERVER_OPTIONS
from lakeward.options.server_options import ServerOptions
from lakeward.remote.s3.s3_settings import S3Settings


def test_hadoops_names_mean_the_same() -> None:
    """A configuration of Apache Fluss or Hadoop is read as it is."""
    ours = {
        "s3.endpoint": "https://s3.example.com",
        "s3.region": "eu-central-1",
        "s3.access-key": "a",
        "s3.secret-key": "b",
        "s3.session-token": "c",
        "s3.path-style-access": "true",
        "s3.assumed.role.arn": "arn:aws:iam::1:role/r",
        "s3.assumed.role.sts.endpoint": "https://sts.example.com",
    }
    hadoops = {
        "fs.s3a.endpoint": "https://s3.example.com",
        "fs.s3a.endpoint.region": "eu-central-1",
        "fs.s3a.access.key": "a",
        "fs.s3a.secret.key": "b",
        "fs.s3a.session.token": "c",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.assumed.role.arn": "arn:aws:iam::1:role/r",
        "fs.s3a.assumed.role.sts.endpoint": "https://sts.example.com",
    }
    assert S3Settings.of(ours, {}) == S3Settings.of(hadoops, {})
    assert S3Settings.of(ours, {}).access_key == "a"


def test_our_name_wins_over_an_alias() -> None:
    """Of two names for one thing the canonical one counts, in whatever order they stand."""
    for settings in (
        {"s3.region": "ours", "fs.s3a.endpoint.region": "theirs"},
        {"fs.s3a.endpoint.region": "theirs", "s3.region": "ours"},
    ):
        assert S3Settings.of(settings, {}).region == "ours"


def test_other_properties_are_passed_over() -> None:
    """A server's options may be handed over as they are."""
    assert S3Settings.of({"data.dir": "x", "fs.s3a.connection.maximum": "9"}, {}) == S3Settings.of({}, {})


def test_half_a_key_is_refused() -> None:
    """The sentence says which half is missing, and not what the other is."""
    with pytest.raises(LakewardError, match=r"^'s3.access-key' is set and 's3.secret-key' is not; set both or none\.$"):
        S3Settings.of({"s3.access-key": "only-me"}, {})
    with pytest.raises(LakewardError, match=r"^'s3.secret-key' is set and 's3.access-key' is not"):
        S3Settings.of({"fs.s3a.secret.key": "only-me"}, {})


@pytest.mark.parametrize(
    ("endpoint", "is_path_style"),
    [
        ("http://127.0.0.1:8333", True),
        ("http://[::1]:8333", True),
        ("http://localhost:8333", True),
        ("http://minio:9000", True),
        ("https://s3.example.com", False),
        ("https://s3.eu-central-1.amazonaws.com", False),
    ],
)
def test_a_bucket_is_not_put_before_an_address(endpoint: str, is_path_style: bool) -> None:
    """Where the host has no domain the bucket goes into the path, unless one is told otherwise."""
    assert S3Settings.of({"s3.endpoint": endpoint}, {}).path_style is is_path_style
    assert S3Settings.of({"s3.endpoint": endpoint, "s3.path-style-access": "false"}, {}).path_style is False
    assert S3Settings.of({"s3.endpoint": endpoint, "s3.path-style-access": "true"}, {}).path_style is True


def test_the_bucket_is_in_the_host_or_in_the_path() -> None:
    """With virtual hosts the bucket's own host is asked."""
    far = S3Settings.of({"s3.endpoint": "https://s3.example.com:9000/"}, {})
    assert far.bucket_endpoint("shop") == "https://shop.s3.example.com:9000"
    near = S3Settings.of({"s3.endpoint": "localhost:8333", "s3.path-style-access": "true"}, {})
    assert near.bucket_endpoint("shop") == "https://localhost:8333"
    assert S3Settings.of({}, {}).bucket_endpoint("shop") is None


def test_an_endpoint_is_a_url() -> None:
    """A mistake is found before anything is sent there."""
    with pytest.raises(LakewardError, match=r"'s3.endpoint' is no URL: 'ftp://x'; write http://host:port"):
        S3Settings.of({"s3.endpoint": "ftp://x"}, {})


def test_an_endpoint_without_a_scheme_is_meant_with_tls() -> None:
    """As Hadoop writes them; TLS can be left out by the name it has there."""
    assert S3Settings.of({"fs.s3a.endpoint": "s3.example.com"}, {}).endpoint == "https://s3.example.com"
    plain = {"fs.s3a.endpoint": "minio:9000", "fs.s3a.connection.ssl.enabled": "false"}
    assert S3Settings.of(plain, {}).endpoint == "http://minio:9000"


def test_the_environment_fills_what_is_not_set() -> None:
    """Region and endpoint, as the SDKs read them; what is set wins."""
    environment = {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "http://localhost:1"}
    assert S3Settings.of({}, environment).region == "eu-west-1"
    assert S3Settings.of({}, environment).endpoint == "http://localhost:1"
    told = S3Settings.of({"s3.region": "x", "s3.endpoint": "http://localhost:2"}, environment)
    assert (told.region, told.endpoint) == ("x", "http://localhost:2")


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, "https://sts.us-east-1.amazonaws.com"),
        ({"s3.region": "eu-west-1"}, "https://sts.eu-west-1.amazonaws.com"),
        ({"s3.endpoint": "http://localhost:8333"}, "http://localhost:8333"),
        ({"s3.endpoint": "https://s3.eu-west-1.amazonaws.com"}, "https://sts.us-east-1.amazonaws.com"),
        ({"s3.endpoint": "http://a.b", "s3.assumed.role.sts.endpoint": "http://c.d"}, "http://c.d"),
    ],
)
def test_sts_is_where_the_store_is_unless_it_is_aws(settings: dict[str, str], url: str) -> None:
    """Stores that speak like S3 have their STS at the same address."""
    assert S3Settings.of(settings, {}).sts_url() == url


def test_secrets_are_not_shown() -> None:
    """Not by the settings themselves, and not among a server's options."""
    settings = {"s3.access-key": "key-1", "s3.secret-key": "secret-2", "s3.session-token": "token-3"}
    shown = repr(S3Settings.of(settings, {}))
    assert not any(value in shown for value in settings.values())
    assert all(SERVER_OPTIONS.rows[key].secret for key in settings)


def test_a_server_knows_every_name() -> None:
    """`lakeward serve -D fs.s3a.access.key=…` is kept under its canonical name."""
    options = ServerOptions.of(pairs=["fs.s3a.access.key=a", "fs.s3a.secret.key=b"])
    assert dict(options.texts) == {"s3.access-key": "a", "s3.secret-key": "b"}
    assert set(REMOTE_STORE_OPTIONS.rows) <= set(SERVER_OPTIONS.rows)
    assert set(REMOTE_STORE_OPTIONS.aliases) <= set(SERVER_OPTIONS.aliases)
