"""When the archive of Spark's classes is made; Spark itself is not started here."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.spark.setup import make_archive as making


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "spark-classes-x.jsa"
    monkeypatch.setattr(making, "java_home", lambda: tmp_path)
    monkeypatch.setattr(making, "archive_of", lambda _home: path)
    monkeypatch.setattr(making, "archive_options", lambda _home: "known" if path.exists() else "")
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)
    return path


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses after which it would be made."""
    found: list[float] = []

    class Timer:
        daemon = False

        def __init__(self, pause_s: float, _make: object) -> None:
            found.append(pause_s)

        def start(self) -> None:
            assert self.daemon

    monkeypatch.setattr(making.threading, "Timer", Timer)
    return found


def test_it_is_made_once(archive: Path, begun: list[float]) -> None:
    """A service that finds none has it made in a while; the next one finds it."""
    making.make_archive_beside(5)
    archive.touch()
    making.make_archive_beside(5)
    assert begun == [5]
    assert making.make_archive() == archive


def test_whoever_chose_an_archive_is_left_alone(
    archive: Path, begun: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options of their own for Spark's Java count more than ours."""
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:SharedArchiveFile=/mine")
    making.make_archive_beside(5)
    assert begun == []
    assert not archive.exists()


def test_a_java_that_wrote_none_leaves_nothing(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every Java can: then there is no archive, and no rubbish either."""
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "")
    monkeypatch.setattr(making, "_use_spark", lambda: None)
    assert making.make_archive() is None
    assert list(archive.parent.iterdir()) == []
