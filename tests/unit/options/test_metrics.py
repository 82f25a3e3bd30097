"""Options of metrics: what would silently send nothing is refused."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.options.metrics import push_url_of, reporters_of
from lakeward.options.server_options import ServerOptions

GUIDE = {
    "metrics.reporter.promgateway.class": "org.apache.flink.metrics.prometheus.PrometheusPushGatewayReporter",
    "metrics.reporter.promgateway.host": "prometheus-pushgateway",
    "metrics.reporter.promgateway.port": 9091,
}


def test_the_block_of_the_guide_is_a_push_gateway() -> None:
    """As it stands there."""
    texts = ServerOptions.of(GUIDE).texts
    assert reporters_of(texts) == ("prometheus-push",)
    assert push_url_of(texts) == "http://prometheus-pushgateway:9091"


def test_the_names_of_apache_fluss_are_one_too() -> None:
    """With a URL; reporters that we have not are left to be told."""
    texts = ServerOptions.of(
        {
            "metrics.reporters": "jmx,prometheus-push",
            "metrics.reporter.jmx.port": "9250-9260",
            "metrics.reporter.prometheus-push.host-url": "http://gateway:9091",
            "metrics.reporter.prometheus-push.push-interval": "10 SECONDS",
            "metrics.reporter.prometheus-push.filter.includes": "*:*:*",
        }
    ).texts
    assert reporters_of(texts) == ("jmx", "prometheus-push")
    assert push_url_of(texts) == "http://gateway:9091"


def test_without_any_nothing_is_sent() -> None:
    """Off by default."""
    assert reporters_of(ServerOptions.of().texts) == ()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"metrics.reporters": "prometheus-push"}, "no address"),
        ({"metrics.reporters": "otlp"}, "no address"),
        ({"metrics.reporter.otlp.traces.sample-ratio": "0.1"}, "no address"),
        ({**GUIDE, "metrics.reporter.promgateway.class": "com.example.Reporter"}, "not known here"),
        ({**GUIDE, "metrics.reporter.promgateway.prot": "1"}, "not a recognized"),
        ({**GUIDE, "metrics.reporter.promgateway.hostUrl": "ftp://x"}, "not a URL"),
        ({**GUIDE, "metrics.reporter.promgateway.hostUrl": "http://[::1"}, "not a URL"),
        ({**GUIDE, "metrics.reporter.promgateway.hostUrl": "http://me:hush@x"}, "a user or a password"),
        ({**GUIDE, "metrics.reporter.promgateway.interval": "10 ms"}, "shorter than a second"),
    ],
)
def test_what_would_send_nothing_is_refused(settings: dict[str, str], why: str) -> None:
    """With the reason, and without what may be a password."""
    with pytest.raises(LakewardError, match=why) as refused:
        ServerOptions.of(settings)
    assert "hush" not in refused.value.message
