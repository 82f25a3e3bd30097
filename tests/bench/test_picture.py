"""Pictures are SVG that a browser reads, with every curve in them."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from bench.scale.picture import Curve, Panel, short, svg

_PANEL = Panel("append <&>", "rows", "ms", [Curve("p50", [(10, 0.5), (1000, 4.0)], "#123456"), Curve("none", [], "#0")])


def test_a_picture_is_whole_and_names_its_curves() -> None:
    """A curve without points is left out, of the legend too; names are escaped."""
    drawn = svg("Cost & rows", [_PANEL])
    root = ET.fromstring(drawn)
    texts = [node.text for node in root.iter() if node.text]
    assert "append <&>, ms" in texts
    assert "p50" in texts
    assert "none" not in texts
    assert drawn.count("<circle") == 2


def test_points_lie_inside_their_panel() -> None:
    """Also a curve of one point, or of one height."""
    for points in ([(1, 1.0)], [(1, 7.0), (10, 7.0)]):
        root = ET.fromstring(svg("x", [Panel("a", "b", "c", [Curve("p50", points, "#123456")])]))
        width, height = (float(root.attrib[name]) for name in ("width", "height"))
        for dot in root.iter("{http://www.w3.org/2000/svg}circle"):
            assert 0 <= float(dot.attrib["cx"]) <= width
            assert 0 <= float(dot.attrib["cy"]) <= height


def test_numbers_are_short() -> None:
    """As labels have room for."""
    assert [short(n) for n in (0.01, 1, 1000, 100_000, 10**8)] == ["0.01", "1", "1k", "100k", "100M"]
