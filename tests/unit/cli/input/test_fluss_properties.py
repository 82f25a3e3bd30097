"""FLUSS_PROPERTIES is read as containers of Apache Fluss read it, and says which line is wrong."""

from __future__ import annotations

import pytest

from lakeward.cli.input.fluss_properties import settings_of
from lakeward.errors import LakewardError


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("\nzookeeper.address: zookeeper:2181\n", {"zookeeper.address": "zookeeper:2181"}),
        ("a.b: 1\n  c.d = 2\n\n# e.f: 3\n", {"a.b": "1", "c.d": "2"}),
        ("a.b=x://h:1 c.d=/data", {"a.b": "x://h:1", "c.d": "/data"}),
        ("a.b: \"1 # 2\"\nc.d: 'x' # why\ne.f: y # why", {"a.b": "1 # 2", "c.d": "x", "e.f": "y"}),
        (
            'a.jaas: Plain required user_admin="p=w" user_b="q";',
            {"a.jaas": 'Plain required user_admin="p=w" user_b="q";'},
        ),
        ('a.jaas=Plain required user_b="q"; c.d=1', {"a.jaas": 'Plain required user_b="q";', "c.d": "1"}),
        ("a.b:\nc.d: 2", {"a.b": "", "c.d": "2"}),
        ("a.b: 1\na.b: 2", {"a.b": "2"}),
        ("a.b: ${HOST}:9123\nc.d: ${env:HOST}", {"a.b": "here:9123", "c.d": "${env:HOST}"}),
    ],
)
def test_settings_are_read(text: str, settings: dict[str, str]) -> None:
    """Lines of either form, several of them folded into one line, comments, quotes and variables."""
    assert settings_of(text, {"HOST": "here"}) == settings


@pytest.mark.parametrize("line", ["garbage", "a.b:c", "- a.b: c", ": x", "=x", "1.b: c"])
def test_a_line_that_is_no_setting_is_refused_with_its_number(line: str) -> None:
    """Whoever wrote it finds the line."""
    with pytest.raises(LakewardError, match=r"FLUSS_PROPERTIES, line 3: '.*' is not a setting"):
        settings_of(f"a.b: 1\n\n{line}\n", {})


@pytest.mark.parametrize("text", ["x.password: |\n  hunter2", "x password hunter2"])
def test_a_line_that_may_hold_a_secret_is_not_shown(text: str) -> None:
    """The rest of a password is one, too."""
    with pytest.raises(LakewardError, match="may hold a secret") as refused:
        settings_of(text, {})
    assert "hunter2" not in str(refused.value)


def test_a_variable_that_is_not_set_is_refused_by_name() -> None:
    """An empty value instead would be a server that somebody did not ask for."""
    with pytest.raises(LakewardError, match=r"line 1: 'data.dir' asks for the variable WHERE, which is not set"):
        settings_of("data.dir: ${WHERE}", {})
