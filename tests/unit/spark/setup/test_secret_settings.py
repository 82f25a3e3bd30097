"""What of the settings stands on the command line of Spark's JVM, and how executors come by the rest."""

from __future__ import annotations

import pytest

from lakeward.spark.setup.secret_settings import add_settings, open_settings, options_for

_PASSWORD = "spark.sql.catalog.fluss.client.security.sasl.password"


@pytest.mark.parametrize(
    "key", [_PASSWORD, "spark.hadoop.fs.s3a.secret.key", "spark.sql.catalog.f.client.x.jaas.config"]
)
def test_no_secret_is_open(key: str) -> None:
    """Whatever sounds like one; where it is kept is open."""
    assert open_settings({key: "x-secret", "spark.master": "local"}) == {"spark.master": "local"}
    assert open_settings({key: "file:/x"}) == {key: "file:/x"}


def test_processes_of_this_machine_inherit_the_environment() -> None:
    """So the name of the variable is enough."""
    assert options_for("local[2]", {"p": "${env:NONE}"}) == {"p": "${env:NONE}"}


def test_executors_elsewhere_are_told_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their environment is another one; a file is theirs to have."""
    monkeypatch.setenv("PW", "x-secret")
    told = options_for("spark://there:7077", {"p": "${env:PW}", "q": "file:/x", "r": "plain"})
    assert told == {"p": "x-secret", "q": "file:/x", "r": "plain"}


class _Conf(dict[str, str]):
    """Settings, as a session and as a context have them."""

    def set(self, key: str, value: str) -> None:
        """Take one."""
        self[key] = value


class _Session:
    """A session that runs, with as much of Spark as settings need."""

    def __init__(self) -> None:
        self.conf = _Conf()
        self.of_context = _Conf()
        self.sparkContext = self._jsc = self
        self.sc = type("Context", (), {"conf": lambda _: self.of_context})


def test_a_running_context_learns_of_secrets_so_that_its_event_log_hides_them() -> None:
    """Spark stars out what its context has; the rest of the settings are the session's alone."""
    session = _Session()
    add_settings(session, {_PASSWORD: "x-secret", "spark.sql.x": "1", "spark.y.password": "file:/x"})  # type: ignore[arg-type]
    assert session.conf == {_PASSWORD: "x-secret", "spark.sql.x": "1", "spark.y.password": "file:/x"}
    assert session.of_context == {_PASSWORD: "x-secret"}
