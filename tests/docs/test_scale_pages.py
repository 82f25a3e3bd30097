"""The pages at size say what the kept figures say: arithmetic is done by a program, and nobody mends a number."""

from __future__ import annotations

from bench.scale import capacity, page
from bench.scale.kept import Kept
from bench.scale.picture import svg
from bench.scale.shapes import AXES


def test_the_page_of_capacity_is_what_the_figures_give() -> None:
    """`python -m bench.scale.capacity` writes it again."""
    assert capacity.PAGE.read_text() == capacity.page(Kept())


def test_the_tables_at_size_are_what_the_figures_give() -> None:
    """`python -m bench.scale --draw` writes them again; the line that names the machine is another one elsewhere."""
    told, made = (text.split("\n## ", 1)[1] for text in (page.PAGE.read_text(), page.page(Kept())))
    assert told == made


def test_the_pictures_are_what_the_figures_give() -> None:
    """The same command draws them."""
    for axis in AXES.values():
        drawn = svg(f"Cost over {axis.name}", page.panels(Kept(), axis))
        assert (page.PICTURES / f"{axis.name}.svg").read_text() == drawn
