"""What a manifest must be. Errors name the file, the row, the column, the value, the way out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fidal.data.benchmark import TEST, TRAIN, Manifest
from fidal.data.table import Table, refuse, repeated

OOD: Final = "ood"
"""The label of a known outlier in a manifest file."""

REQUIRED: Final = ("image", "site", "split", "label")
SPLITS: Final = (TRAIN, TEST)


def check_rows(table: Table) -> None:
    """Ids are there and unique, sites are named, splits are known."""
    ids = "id" if "id" in table.columns else "image"
    for name in dict.fromkeys(("image", "site", ids)):
        refuse(table, name, [not cell for cell in table.columns[name]], "is empty")
    again = repeated(table.columns[ids])
    refuse(table, ids, again, "stands in an earlier row too; ids are unique over all sites")
    sites = table.columns["site"]
    refuse(table, "site", [_no_name(cell) for cell in sites], "can't be the name of a folder")
    splits = table.columns["split"]
    refuse(table, "split", [cell not in SPLITS for cell in splits], "is unknown", SPLITS)


def _no_name(site: str) -> bool:
    """A site's name becomes a folder of a run, and "*" stands for the whole federation."""
    return site in (".", "..", "*") or any(sign in site for sign in "/\\\0")


def check_classes(path: Path, classes: Sequence[str]) -> None:
    """There are classes, each once, and none has the name of an outlier."""
    if not classes:
        raise ValueError(f"{path}: no image has a class; declare them with classes = [...]")
    for name in classes:
        if name in ("", OOD) or classes.count(name) > 1:
            raise ValueError(
                f"classes: '{name}' is declared more than once, empty, or '{OOD}', which is kept "
                "for outliers; rename it"
            )


def check_labels(table: Table, classes: Sequence[str]) -> None:
    """Every label is a class, "ood" or empty; a test image, which nobody will be asked, has one."""
    labels, splits = table.columns["label"], table.columns["split"]
    known = [*classes, OOD]
    refuse(table, "label", [bool(c) and c not in known for c in labels], "is no class", known)
    blank = [not label and split == TEST for label, split in zip(labels, splits, strict=True)]
    refuse(table, "label", blank, f"is empty for a test image; give it a class or '{OOD}'")


def check_sites(manifest: Manifest, path: Path) -> None:
    """Every site has something to train on."""
    for site in manifest.sites:
        here = manifest.site == site
        if not (manifest.split[here] == TRAIN).any():
            raise ValueError(
                f"{path}: site '{site}' has {int(here.sum())} test images and none to train on; "
                f"mark some of them as split '{TRAIN}' or leave the site out"
            )


def check_groups(manifest: Manifest, path: Path) -> None:
    """No patient stands on both sides of the split. An empty group is nobody's."""
    shared = shared_groups(manifest)
    if shared:
        assert manifest.group is not None
        images = sum(group in shared for group in manifest.group.tolist())
        raise ValueError(
            f"{path}: {len(shared)} groups ({images} images) stand in both train and test, first "
            f"'{min(shared)}'; move each to one side, put the site before the number if the sites "
            "number their patients independently, or set allow_shared_groups = true"
        )


def shared_groups(manifest: Manifest) -> set[str]:
    """The patients who stand in both train and test."""
    if manifest.group is None:
        return set()
    sides = [set(manifest.group[manifest.split == side].tolist()) for side in SPLITS]
    return set.intersection(*sides) - {""}
