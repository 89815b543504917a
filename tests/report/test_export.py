import re
import xml.etree.ElementTree as ElementTree

from fidal.report.export import inline, png, svg
from fidal.report.figures import pareto
from fidal.report.frame import Study


def test_equal_figures_give_equal_files(study: Study) -> None:
    one, two = pareto.draw(study), pareto.draw(study)
    assert svg(one) == svg(two)
    assert png(one, dpi=50) == png(two, dpi=50)
    assert png(one, dpi=50).startswith(b"\x89PNG")


def test_inline_svg_keeps_to_itself(study: Study) -> None:
    text = inline(svg(pareto.draw(study)), "one", "A & B")
    root = ElementTree.fromstring(text)
    assert root.get("aria-label") == "A & B"
    assert root.get("width") is None and root.get("viewBox") is not None
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    assert all(str(name).startswith("one-") for name in ids)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert used and used <= ids


def test_artists_carry_their_strategy(study: Study) -> None:
    text = inline(svg(pareto.draw(study)), "one", "A")
    owners = re.findall(r'data-strategy="([^"]+)"', text)
    # Path, end and start of each, and its two pieces of the legend.
    assert {name: owners.count(name) for name in set(owners)} == dict.fromkeys(study.main, 5)
