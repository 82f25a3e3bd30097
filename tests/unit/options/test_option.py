"""Options as rows, and the tables that hold them."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.kinds import BOOL, DURATION, INT
from lakeward.options.option import OptionTable, Scope
from lakeward.options.server import SERVER_OPTIONS
from lakeward.options.table import TABLE_OPTIONS

ALL = [SERVER_OPTIONS, TABLE_OPTIONS, CLIENT_OPTIONS]


@pytest.fixture
def table() -> OptionTable:
    """A table of two options and an alias."""
    made = OptionTable(Scope.TABLE)
    ttl = made.row("log.ttl", DURATION, 7, "How long.")
    made.optional("log.count", INT, "How many.", dynamic=True)
    made.alias("log.hours", ttl, lambda text: f"{int(text)} h")
    made.open_prefix("free.", "Anything.")
    return made


def test_an_option_reads_its_value_or_its_default(table: OptionTable) -> None:
    """What is not set has the declared default."""
    assert table.rows["log.ttl"].read({"log.ttl": "1 s"}) == 1000
    assert table.rows["log.ttl"].read({}) == 7
    assert table.rows["log.count"].read({}) is None


def test_an_unreadable_value_names_the_option(table: OptionTable) -> None:
    """The message says which setting is wrong, and how."""
    with pytest.raises(LakewardError, match=r"'log\.count'.*'many'") as refused:
        table.check({"log.count": "many"})
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_an_unknown_key_is_refused_with_the_nearest_name(table: OptionTable) -> None:
    """A slip of the pen is told what was meant; an alias is told with its meaning."""
    with pytest.raises(LakewardError, match=r"'log\.tll' .*nearest known name is 'log\.ttl'") as refused:
        table.check({"log.tll": "1 s"})
    assert refused.value.code is ErrorCode.INVALID_CONFIG
    with pytest.raises(LakewardError, match=r"'log\.hours' \('log\.ttl'\)"):
        table.check({"log.hour": "1"})


def test_an_endless_key_is_shown_short(table: OptionTable) -> None:
    """A message stays readable, whatever was sent."""
    assert len(table.unknown("x" * 100_000).message) < 400


def test_an_alias_is_read_under_its_canonical_name(table: OptionTable) -> None:
    """Key and value are both translated; a value that cannot be is INVALID_CONFIG."""
    assert table.canonical("log.hours", "3") == ("log.ttl", "3 h")
    assert table.canonical("other", "3") == ("other", "3")
    with pytest.raises(LakewardError, match=r"'log\.hours'"):
        table.canonical("log.hours", "three")


def test_open_families_take_any_member(table: OptionTable) -> None:
    """A family whose members are not listed is accepted as text."""
    table.check({"free.anything": "at all"})


def test_a_key_is_declared_once(table: OptionTable) -> None:
    """Two rows or names for one key are a bug of ours."""
    with pytest.raises(AssertionError, match="twice"):
        table.row("log.ttl", DURATION, 1, "Again.")
    with pytest.raises(AssertionError, match="already"):
        table.alias("log.count", table.rows["log.ttl"])


def test_an_inert_option_is_checked_and_has_a_default() -> None:
    """It has no effect, yet a value that Apache Fluss would not read is refused here too."""
    table = OptionTable(Scope.SERVER)
    table.inert("log.index.file-size", DURATION, 5)
    option = table.rows["log.index.file-size"]
    assert option.inert
    assert option.read({}) == 5
    table.check({"log.index.file-size": "5 s"})
    with pytest.raises(LakewardError):
        table.check({"log.index.file-size": "large"})


@pytest.mark.parametrize("options", ALL, ids=lambda options: options.scope)
def test_every_default_is_a_value_of_its_kind(options: OptionTable) -> None:
    """A default, shown and read back, is itself."""
    for option in options:
        if option.default is not None:
            assert option.parse(option.show(option.default)) == option.default, option.key


@pytest.mark.parametrize("options", ALL, ids=lambda options: options.scope)
def test_every_alias_means_an_option(options: OptionTable) -> None:
    """No alias points into the void."""
    assert all(alias.key in options.rows for alias in options.aliases.values())


def test_a_switch_is_off_unless_declared_on() -> None:
    """A switch is a bool with a default."""
    made = OptionTable(Scope.CLIENT)
    assert made.switch("a", "Off.").default is False
    assert made.switch("b", "On.", default=True).default is True
    assert made.rows["a"].kind is BOOL
