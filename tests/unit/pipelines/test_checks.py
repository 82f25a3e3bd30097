"""What a JSON schema cannot say."""

from __future__ import annotations

import pytest

from lakeward.pipelines.checks import FilledDocument, parse_name, parse_time_zone
from lakeward.pipelines.text.document import read_documents
from lakeward.pipelines.text.mistake import Mistake
from lakeward.pipelines.text.references import References


def test_lists_and_maps_are_texts_too() -> None:
    """However they were written, an option has one text."""
    [document], _ = read_documents("a: [x, y]\nb: {k: 1, l: 2}\nc: ${S}\n", "p")
    mistakes: list[Mistake] = []
    filled = FilledDocument(document, References({"S": "z"}), mistakes)
    assert (filled.text(("a",)), filled.text(("b",)), filled.text(("c",))) == ("x,y", "k:1,l:2", "z")
    assert filled.is_secret(("c",))
    assert not filled.is_secret(("a",))
    assert filled.text(("d",)) is None


def test_a_name_is_safe_in_a_path() -> None:
    """Folders and slots are named after pipelines; spaces and letters of any language are fine."""
    assert parse_name("Sync MySQL to Fluss, täglich.2") == "Sync MySQL to Fluss, täglich.2"
    for name in ("a/b", "..", "-x", " x", "a\\b", "a\nb", "x" * 101, "a*"):
        with pytest.raises(ValueError, match="is no name for a pipeline"):
            parse_name(name)


def test_a_time_zone_has_a_name() -> None:
    """One that nobody knows is refused."""
    assert parse_time_zone("Europe/Berlin") == "Europe/Berlin"
    with pytest.raises(ValueError, match="is no time zone"):
        parse_time_zone("Nowhere")
