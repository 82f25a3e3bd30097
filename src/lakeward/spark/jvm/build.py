"""`python -m lakeward.spark.jvm.build`: the Java sources → lakeward-spark.jar, the same bytes for the same sources."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
JAR = HERE / "lakeward-spark.jar"
SOURCES = HERE / "java"
MANIFEST = "META-INF/MANIFEST.MF"
_HASH_LINE = "Lakeward-Sources: "
_SERVICES = {"META-INF/services/org.apache.spark.sql.sources.DataSourceRegister": "io.lakeward.spark.FlussSource\n"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
_JAVA_RELEASE = "17"
#: A line of a manifest has at most 72 bytes.
_HASH_DIGITS = 48


def sources() -> list[Path]:
    """The Java files, in order."""
    return sorted(SOURCES.rglob("*.java"))


def sources_hash() -> str:
    """A hash of the names and contents of the sources."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(SOURCES).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:_HASH_DIGITS]


def hash_in(jar: Path) -> str | None:
    """The hash of the sources that a jar was built from."""
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read(MANIFEST).decode().splitlines()
    return next((line.removeprefix(_HASH_LINE) for line in lines if line.startswith(_HASH_LINE)), None)


def build(target: Path = JAR) -> None:
    """Compile against the jars of the installed pyspark and pack the classes."""
    with tempfile.TemporaryDirectory() as classes:
        _compile(Path(classes))
        _pack(Path(classes), target)


def _compile(classes: Path) -> None:
    javac = shutil.which("javac")
    if javac is None:
        sys.exit("There is no javac on the PATH; install a JDK, version 17 or newer.")
    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        sys.exit("pyspark is not installed in this environment; `make setup` does it.")
    jars = Path(pyspark.origin).parent / "jars"
    options = ["--release", _JAVA_RELEASE, "-encoding", "UTF-8", "-g:source,lines", "-proc:none", "-nowarn"]
    command = [javac, *options, "-cp", f"{jars}/*", "-d", str(classes), *map(str, sources())]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)


def _pack(classes: Path, target: Path) -> None:
    """Fixed times and order, so that the same classes make the same file."""
    entries = {MANIFEST: f"Manifest-Version: 1.0\n{_HASH_LINE}{sources_hash()}\n".encode()}
    entries |= {name: text.encode() for name, text in _SERVICES.items()}
    entries |= {p.relative_to(classes).as_posix(): p.read_bytes() for p in sorted(classes.rglob("*.class"))}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    build()
