"""Numbers of a page of metrics are found by name and labels."""

from __future__ import annotations

from lakeward.doctor.facts.samples import Samples

_PAGE = """# HELP a Something.
# TYPE a gauge
a{table="db.t",state="x\\"y"} 3
a{table="db.u"} 4
b 1.5e3
not a line
h_bucket{le="0.1"} 90
h_bucket{le="1"} 99
h_bucket{le="+Inf"} 100
"""


def test_numbers_are_added_up_by_labels() -> None:
    """All that have the labels; none is not nothing."""
    samples = Samples.parse(_PAGE)
    assert samples.total("a") == 7
    assert samples.total("a", table="db.t", state='x"y') == 3
    assert samples.total("b") == 1500
    assert samples.total("missing") is None


def test_a_quantile_is_the_bound_that_reaches_it() -> None:
    """As Prometheus counts: each bucket holds those below it."""
    samples = Samples.parse(_PAGE)
    assert samples.quantile("h", 0.5) == 0.1
    assert samples.quantile("h", 0.99) == 1
    assert samples.quantile("missing", 0.5) is None
