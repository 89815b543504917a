from fidal.data.preparing.fedembed.counts import count
from fidal.data.preparing.fedembed.labels import Labelled
from fidal.data.preparing.fedembed.paper import PAPER, Artefact, Site
from fidal.data.preparing.fedembed.split import Side
from fidal.data.preparing.fedembed.tables import Embed, Mammogram

EMBED = Embed((), frozenset(), (("rows of the metadata", 480_323, 7),))


def image(site: Site, side: Side, artefact: Artefact | None = None) -> Labelled:
    mammogram = Mammogram("a", "1", 0, "Clearview CSm")
    return Labelled(mammogram, site, side, frozenset(), artefact, "predicted")


def told(images: list[Labelled], *, expecting: bool) -> dict[tuple[str, str], tuple[object, int]]:
    counts = count(EMBED, images, 2, expecting=expecting)
    return {(c.site, c.what): (c.expected, c.found) for c in counts}


IMAGES = [
    *[image("lorad_selenia", "train")] * 5,
    *[image("lorad_selenia", "test")] * 2,
    *[image("lorad_selenia", "train", "circle")] * 2,
    image("lorad_selenia", "test", "implant"),
    image("clearview_csm", "train"),
]


def test_numbers_beside_the_papers() -> None:
    found = told(IMAGES, expecting=True)
    assert found["all", "rows of the metadata"] == (480_323, 7)
    assert found["all", "images without a file"] == (0, 2)
    site = "lorad_selenia"
    assert found[site, "images of training patients, outliers among them"] == (7_749, 7)
    assert found[site, "images of test patients, outliers among them"] == (2_421, 3)
    assert found[site, "OOD images, 30.00 % (paper: 1,258, 12.37 %)"] == (1_258, 3)
    assert found[site, "OOD: circle, 20.00 % (paper: 597, 5.87 %)"] == (None, 2)
    assert found[site, "OOD: implant, 10.00 % (paper: 424, 4.17 %)"] == (None, 1)
    assert found["clearview_csm", "OOD: compression, 0.00 % (paper: 0, 0.00 %)"] == (None, 0)
    empty = "OOD images, of no images (paper: 33,804, 13.12 %)"
    assert found["selenia_dimensions", empty] == (33_804, 0)
    assert len(found) == 2 + 4 * 8


def test_other_choices_than_the_papers_are_told_and_not_expected() -> None:
    found = told(IMAGES, expecting=False)
    expected = {key for key, (number, _) in found.items() if number is not None}
    assert expected == {("all", "rows of the metadata"), ("all", "images without a file")}
    assert {site for site, _ in found} == {"all", *PAPER}
