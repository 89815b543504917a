from pathlib import Path

import pytest

from fidal.data.benchmark import DataAbsent
from fidal.data.sentences import SHIPPED, read_sentences


@pytest.mark.parametrize(
    ("name", "n_id", "first", "last"),
    [
        ("fedisic", 8, "A dermoscopy image of Melanoma", "A dermoscopy image of Xanthoma"),
        (
            "fedcamelyon",
            2,
            "An H&E image of normal lymph-node tissue",
            "An H&E image of benign epithelial structures",
        ),
        (
            "fedembed",
            4,
            "A mammogram showing fatty breast tissue",
            "A mammogram showing magnification / spot-compression view",
        ),
    ],
)
def test_the_papers_prompts_are_shipped(name: str, n_id: int, first: str, last: str) -> None:
    sentences = read_sentences(name)
    assert len(set(sentences.texts)) == n_id + 8
    assert sentences.of_classes == (True,) * n_id + (False,) * 8
    assert (sentences.texts[0], sentences.texts[-1]) == (first, last)
    assert name in SHIPPED


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    text = 'in_distribution = ["a naevus"]\nout_of_distribution = ["a ruler", "a pen"]\n'
    sentences = read_sentences(write(tmp_path / "mine.toml", text))
    assert sentences.texts == ["a naevus", "a ruler", "a pen"]
    assert sentences.of_classes == (True, False, False)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('in_distribution = ["a"]', "out_of_distribution: missing"),
        ('in_distribution = []\nout_of_distribution = ["b"]', "in_distribution: .*at least 1"),
        ('in_dist = ["a"]', "in_dist: unknown key; did you mean 'in_distribution'"),
        (
            'template = "an image"\nin_distribution = ["a"]\nout_of_distribution = ["b"]',
            "template: 'an image' must have one {}",
        ),
        ("in_distribution = [", "is not TOML"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_sentences(write(tmp_path / "mine.toml", text))


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataAbsent, match="'fedisik' are not shipped; did you mean 'fedisic'"):
        read_sentences("fedisik")
    with pytest.raises(DataAbsent, match=r"no file of prompts at .*none\.toml; shipped: fedisic"):
        read_sentences(str(tmp_path / "none.toml"))
