"""The jar in the tree is the one that its sources make."""

from __future__ import annotations

import zipfile

from lakeward.spark.jvm import build


def test_the_jar_was_built_from_the_sources_in_the_tree() -> None:
    """Whoever changes a Java file runs `make shim`."""
    assert build.hash_in(build.JAR) == build.sources_hash(), "run `make shim` and commit the jar"


def test_the_jar_holds_no_time_of_its_own() -> None:
    """The same sources and compiler make the same bytes."""
    with zipfile.ZipFile(build.JAR) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_spark_finds_the_source_by_its_short_name() -> None:
    """The jar registers format("fluss")."""
    with zipfile.ZipFile(build.JAR) as archive:
        listed = archive.read("META-INF/services/org.apache.spark.sql.sources.DataSourceRegister").decode()
        assert listed.strip().replace(".", "/") + ".class" in archive.namelist()
