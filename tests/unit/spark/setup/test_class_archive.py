"""Which archive of classes a Java is told of, tried with homes made of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeward.spark.setup.class_archive import archive_of, archive_options, make_room


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / "release").write_text('JAVA_VERSION="17.0.1"')
    return tmp_path / "java"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_an_archive_is_used_when_it_is_there(home: Path, environ: dict[str, str]) -> None:
    """Without one nothing is said to Java, with one it is named; whoever has chosen one keeps it."""
    assert archive_options(home, environ) == ""
    archive = archive_of(home, environ)
    assert archive is not None
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in archive_options(home, environ)
    assert archive_options(home, {**environ, "SPARK_SUBMIT_OPTS": "-XX:SharedArchiveFile=/mine"}) == ""


def test_another_java_has_another_archive(home: Path, environ: dict[str, str]) -> None:
    """An update of Java in its place is not given the archive of the old one."""
    before = archive_of(home, environ)
    (home / "release").write_text('JAVA_VERSION="17.0.2"')
    assert archive_of(home, environ) != before


def test_a_java_that_does_not_say_what_it_is_has_none(home: Path, environ: dict[str, str]) -> None:
    """Nobody could tell when it changes."""
    (home / "release").unlink()
    assert archive_of(home, environ) is None
    assert archive_options(home, environ) == ""


def test_old_archives_go(tmp_path: Path) -> None:
    """Two of the newest stay when there is to be one more; other files are left alone."""
    for number in range(4):
        path = tmp_path / f"spark-classes-{number}.jsa"
        path.touch()
        os.utime(path, (number, number))
    (tmp_path / "other").touch()
    make_room(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "spark-classes-2.jsa", "spark-classes-3.jsa"]
