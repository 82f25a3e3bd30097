"""Figures that are kept can be found again, and others are compared with them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from bench.proof.kept import is_slower, keep, last
from bench.proof.promises import MEASURES, PROMISES
from bench.scale.kept import Kept, percentiles


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Each figure is on disk when it is noted; a later run adds to it."""
    Kept(tmp_path / "figures.json").note("rows", 10, "lakeward", "append", {"p50": 1.0})
    Kept(tmp_path / "figures.json").note("rows", 100, "lakeward", "append", {"p50": 2.0})
    kept = Kept(tmp_path / "figures.json")
    assert kept.curve("rows", "lakeward", "append", "p50") == [(10, 1.0), (100, 2.0)]
    assert kept.curve("rows", "fluss", "append", "p50") == []
    assert kept.at("rows", 1000, "lakeward") == {}


def test_percentiles_of_few_and_of_many() -> None:
    """One value is all three of them."""
    assert percentiles([3.0]) == {"p50": 3.0, "p95": 3.0, "p99": 3.0, "n": 1}
    assert percentiles([float(i) for i in range(101)]) == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "n": 101}


def test_figures_are_compared_with_those_of_the_same_kind_of_machine(tmp_path: Path) -> None:
    """What was not measured this time stays; other machines stay, too."""
    path = tmp_path / "bench.json"
    keep("small", {"append": 1.0, "scan": 2.0}, path)
    keep("large", {"append": 9.0}, path)
    keep("small", {"append": 1.5}, path)
    assert last("small", path) == {"append": 1.5, "scan": 2.0}
    assert last("none", path) == {}


def test_a_fifth_is_slower() -> None:
    """Whichever direction is the good one."""
    assert is_slower(1.25, 1.0, at_least=False)
    assert not is_slower(1.15, 1.0, at_least=False)
    assert is_slower(0.8, 1.0, at_least=True)
    assert not is_slower(0.9, 1.0, at_least=True)


def test_every_promise_has_who_measures_it_and_all_fit_into_half_an_hour() -> None:
    """A line that nobody measures would never be short; each measure ends at its bound, so all of them end in time."""
    assert {promise.measure for promise in PROMISES} <= set(MEASURES)
    for measure in MEASURES.values():
        module, function = measure.function.split(":")
        assert callable(getattr(import_module(module), function))
    assert len({promise.work for promise in PROMISES}) == len(PROMISES)
    assert sum(measure.seconds for measure in MEASURES.values()) < 30 * 60
