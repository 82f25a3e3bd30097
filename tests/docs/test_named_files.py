"""What a page names is there: links, files, modules, targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SOURCES = _ROOT / "src" / "lakeward"
_PAGES = sorted([*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md")])
_FILE = re.compile(r"(?<![\w/.<-])((?:src|tests|bench|docs|examples)/[\w./-]*\w/?)(?![\w/]*[*<{…])")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PACKAGES = "|".join(sorted(path.name for path in _SOURCES.iterdir() if (path / "__init__.py").exists()))
_MODULE = re.compile(rf"(?<=`)(?:lakeward\.)?((?:{_PACKAGES})(?:\.\w+)+)(?=`)")
#: Pictures have no language, and name modules without quotes.
_PICTURE = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_IN_PICTURE = re.compile(rf"(?<![\w./-])((?:{_PACKAGES})(?:\.[a-z_]+)+)(?![\w.(/-])")
_TARGET = re.compile(r"(?:`|^)make ([a-z][a-z0-9-]*)", re.MULTILINE)


def _name(page: Path) -> str:
    return str(page.relative_to(_ROOT))


@pytest.mark.parametrize("page", _PAGES, ids=_name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """The file is there, and so is the heading that the link names."""
    broken = []
    for path, heading in _LINK.findall(_CODE.sub("", page.read_text())):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (heading and heading not in _anchors(target)):
            broken.append(f"{path}#{heading}")
    assert broken == []


@pytest.mark.parametrize("page", _PAGES, ids=_name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Paths from the root, in prose and in code; a file that moves takes its mentions with it."""
    named = set(_FILE.findall(page.read_text()))
    assert sorted(path for path in named if not (_ROOT / path).exists()) == []


@pytest.mark.parametrize("page", [page for page in _PAGES if "reference" not in page.parts], ids=_name)
def test_modules_that_a_page_names_are_there(page: Path) -> None:
    """Dotted names, in prose and in pictures, are modules or what they define, unless they are options."""
    text, options = page.read_text(), (_ROOT / "docs/reference/options.md").read_text()
    pictures = "".join(_PICTURE.findall(text)) if page.name == "architecture.md" else ""
    named = {*_MODULE.findall(text), *_IN_PICTURE.findall(pictures)}
    unknown = {name for name in named if not name.endswith(".py") and not _is_defined(name)}
    assert sorted(name for name in unknown if name not in options and not name.startswith("spark.")) == []


@pytest.mark.parametrize("page", _PAGES, ids=_name)
def test_targets_that_a_page_names_can_be_made(page: Path) -> None:
    """`make something` is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (_ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(_TARGET.findall(page.read_text())) - targets == set()


def _anchors(page: Path) -> set[str]:
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(page.read_text())}


def _is_defined(name: str) -> bool:
    place = _SOURCES
    parts = name.split(".")
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    if not parts:
        return True
    module = place / f"{parts[0]}.py"
    defined = rf"^(?:(?:async )?def |class )?{parts[-1]}\b"
    return module.is_file() and (len(parts) == 1 or re.search(defined, module.read_text(), re.MULTILINE) is not None)
