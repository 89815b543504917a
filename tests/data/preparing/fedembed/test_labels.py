import pytest

from fidal.data.preparing.fedembed.artefacts import Annotator, Shown
from fidal.data.preparing.fedembed.labels import Labelled, Unannotated, label
from fidal.data.preparing.fedembed.paper import ARTEFACTS
from fidal.data.preparing.fedembed.split import Side
from fidal.data.preparing.fedembed.tables import Mammogram

SIDES: dict[str, Side] = {"1": "train", "2": "validation", "3": "test"}
IMAGES = [
    Mammogram("a", "1", 0, "Selenia Dimensions"),
    Mammogram("b", "1", 1, "Senograph 2000D ADS_17.4.5"),
    Mammogram("c", "3", 2, "Senograph 2000D ADS_17.5"),
    Mammogram("d", "2", 3, "Lorad Selenia"),
    Mammogram("e", "3", 3, "Senographe Pristina"),
    Mammogram("f", "3", 3, "Clearview CSm"),
]
NONE: Shown = frozenset()
PREDICTED: dict[str, Shown] = {
    "a": frozenset({"circle", "devices"}),
    "b": NONE,
    "c": frozenset({"implant"}),
    "f": NONE,
}
MANUAL: dict[str, Shown] = {"a": NONE, "f": frozenset({"triangle"})}


def labelled(
    annotations: dict[Annotator, dict[str, Shown]], unannotated: Unannotated = "refuse"
) -> list[Labelled]:
    return label(IMAGES, SIDES, annotations, ARTEFACTS, unannotated)


def test_four_scanners_are_clients_and_validation_patients_are_nowhere() -> None:
    found = labelled({"predicted": PREDICTED})
    assert [(image.mammogram.name, image.site, image.side) for image in found] == [
        ("a", "selenia_dimensions", "train"),
        ("b", "senograph_2000d", "train"),
        ("c", "senograph_2000d", "test"),
        ("f", "clearview_csm", "test"),
    ]
    assert [image.artefact for image in found] == ["devices", None, "implant", None]
    assert found[0].shown == {"circle", "devices"}


def test_the_first_annotator_that_knows_an_image_decides() -> None:
    found = labelled({"manual": MANUAL, "predicted": PREDICTED})
    assert [(image.artefact, image.annotator) for image in found] == [
        (None, "manual"),
        (None, "predicted"),
        ("implant", "predicted"),
        ("triangle", "manual"),
    ]


def test_images_that_nobody_looked_at() -> None:
    with pytest.raises(ValueError, match=r"2 of 4 images have no .* first 'b'; .* 'leave_out'"):
        labelled({"manual": MANUAL})
    left = labelled({"manual": MANUAL}, "leave_out")
    assert [image.mammogram.name for image in left] == ["a", "f"]
    taken = labelled({"manual": MANUAL}, "id")
    assert [image.mammogram.name for image in taken] == ["a", "b", "c", "f"]
    assert [image.annotator for image in taken] == ["manual", "nobody", "nobody", "manual"]
    assert [image.artefact for image in taken] == [None, None, None, "triangle"]
