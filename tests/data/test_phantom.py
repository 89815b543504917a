from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from sklearn.metrics import roc_auc_score

from fidal.data import BENCHMARKS
from fidal.data.benchmark import TEST, TRAIN, Benchmark
from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.clinics import CLINICS
from fidal.data.drawing.lesions import CLASSES
from fidal.data.phantom import Phantom, manifest_of
from fidal.encoders.scattering import Scattering
from fidal.gates import Gate
from fidal.types import OUTLIER

SITES = tuple(CLINICS)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def small(cache: Path) -> Benchmark:
    return Phantom(train_per_site=40, test_per_site=30, pixels=32).load(cache)


@pytest.fixture(scope="module")
def large(cache: Path) -> Benchmark:
    return Phantom(train_per_site=220, test_per_site=1).load(cache)


def rows(benchmark: Benchmark, site: str, split: str) -> NDArray[np.int64]:
    manifest = benchmark.manifest
    return np.flatnonzero((manifest.site == site) & (manifest.split == split))


def test_the_registry_knows_it() -> None:
    assert BENCHMARKS["phantom"] is Phantom


def test_every_array_has_one_row_per_image(small: Benchmark) -> None:
    n, manifest = 4 * (40 + 30), small.manifest
    assert small.name == "phantom" and manifest.sites == SITES and manifest.classes == CLASSES
    assert len(manifest.ids) == len(set(manifest.ids)) == n
    arrays = (manifest.site, manifest.split, manifest.label, manifest.columns["kind"])
    assert {len(array) for array in arrays} == {n}
    assert small.inputs.shape == (n, 32, 32, 3) and small.inputs.dtype == np.uint8
    assert small.coverage is not None and small.coverage.shape == (n, 512)
    assert small.prompts is not None and small.prompts.logits.shape == (n, 14)
    assert small.prompts.in_distribution == (True,) * 8 + (False,) * 6
    for site in SITES:
        assert (len(rows(small, site, TRAIN)), len(rows(small, site, TEST))) == (40, 30)


def test_coverage_is_the_encoder_s(small: Benchmark) -> None:
    assert small.coverage is not None
    some = slice(100, 116)
    assert np.allclose(small.coverage[some], Scattering().encode(small.inputs[some]), atol=1e-4)


def test_kinds_and_labels_agree_and_test_sets_are_clean(small: Benchmark) -> None:
    manifest = small.manifest
    outlier = manifest.label == OUTLIER
    assert set(manifest.columns["kind"][outlier]) == set(ARTEFACTS)
    assert set(manifest.columns["kind"][~outlier]) == {"id"}
    assert not outlier[manifest.split == TEST].any()


def test_ids_do_not_tell_what_an_image_shows(small: Benchmark) -> None:
    words = {*CLASSES, *ARTEFACTS, "id"}
    assert all(words.isdisjoint(name.split("-")) for name in small.manifest.ids)


@pytest.mark.parametrize("n", [50, 350, 2000])
@pytest.mark.parametrize("site", SITES)
def test_shares_are_those_of_the_site(site: str, n: int) -> None:
    clinic, outliers = CLINICS[site], CLINICS[site].ood_share * n
    manifest = manifest_of(Phantom(train_per_site=n).entries())
    pool = (manifest.site == site) & (manifest.split == TRAIN)
    labels, kinds = manifest.label[pool], manifest.columns["kind"][pool]
    assert len(labels) == n and abs((labels == OUTLIER).sum() - outliers) <= 3
    for kind, share in clinic.artefacts.items():
        assert abs((kinds == kind).sum() - outliers * share) <= 3
    for label, share in enumerate(clinic.classes):
        assert abs((labels == label).sum() - (n - outliers) * share) <= 3


def test_rare_classes_are_less_rare_in_the_test_sets() -> None:
    manifest = manifest_of(Phantom(train_per_site=250, test_per_site=250, ood_share=0).entries())
    count = {s: Counter(manifest.label[manifest.split == s].tolist()) for s in (TRAIN, TEST)}
    assert count[TEST][7] > 2 * count[TRAIN][7]
    assert min(count[TEST].values()) >= 40
    assert count[TEST][0] == max(count[TEST].values())


def test_a_larger_benchmark_begins_with_the_images_of_a_smaller_one(
    small: Benchmark, cache: Path
) -> None:
    smaller = Phantom(train_per_site=7, test_per_site=3, pixels=32).load(cache)
    place = {name: row for row, name in enumerate(small.manifest.ids)}
    same = [place[name] for name in smaller.manifest.ids]
    assert np.array_equal(smaller.inputs, small.inputs[same])
    assert np.array_equal(smaller.manifest.label, small.manifest.label[same])


def test_the_same_seed_draws_the_same_whatever_else_is_random(
    small: Benchmark, tmp_path: Path
) -> None:
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    again = Phantom(train_per_site=5, test_per_site=1, pixels=32).load(tmp_path)
    assert np.array_equal(again.inputs[:5], small.inputs[:5])
    assert again.coverage is not None and small.coverage is not None
    assert np.allclose(again.coverage[:5], small.coverage[:5], atol=1e-4)


def test_another_seed_draws_other_images(small: Benchmark, cache: Path) -> None:
    other = Phantom(train_per_site=40, test_per_site=30, pixels=32, seed=1).load(cache)
    assert other.manifest.ids == small.manifest.ids
    assert not (other.inputs == small.inputs).all((1, 2, 3)).any()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_the_share_of_outliers_can_be_chosen(share: float) -> None:
    manifest = manifest_of(Phantom(ood_share=share).entries())
    for site in SITES:
        labels = manifest.label[(manifest.site == site) & (manifest.split == TRAIN)]
        assert abs((labels == OUTLIER).mean() - share) < 0.01


def test_it_can_be_written_as_a_table() -> None:
    table = {"seed": 3, "encoder": {"name": "scattering", "angles": 6}}
    phantom = Phantom.model_validate(table)
    assert phantom.encoder == Scattering(angles=6)
    assert Phantom.model_validate(phantom.model_dump()) == phantom
    with pytest.raises(ValidationError, match="unknown encoder 'scatering'; did you mean"):
        Phantom.model_validate({"encoder": "scatering"})
    for wrong in ({"pixels": 40}, {"ood_share": 1.0}, {"train_per_site": 0}, {"seed": -1}):
        with pytest.raises(ValidationError):
            Phantom.model_validate(wrong)


def auroc(features: NDArray[np.floating], outlier: NDArray[np.bool_], seed: int) -> float:
    """Of a diagonal Gaussian fitted on 100 ID images, over all the others."""
    inside = np.random.default_rng(seed).permutation(np.flatnonzero(~outlier))[:100]
    mean, variance = features[inside].mean(0), features[inside].var(0, ddof=1)
    variance = np.maximum(variance, 1e-3 * variance.mean())
    likelihood = -((features - mean) ** 2 / variance).sum(1)
    others = np.setdiff1d(np.arange(len(features)), inside)
    return float(roc_auc_score(~outlier[others], likelihood[others]))


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("site", SITES)
def test_coverage_tells_outliers_apart_at_every_site(
    large: Benchmark, site: str, normalise: bool
) -> None:
    pool = rows(large, site, TRAIN)
    assert large.coverage is not None
    features = large.coverage[pool].astype(np.float64)
    if normalise:
        features /= np.linalg.norm(features, axis=1, keepdims=True)
    outlier = large.manifest.label[pool] == OUTLIER
    found = [auroc(features, outlier, seed) for seed in range(5)]
    assert min(found) > 0.9
    assert np.mean(found) < 0.995, "too easy: the gate would have nothing to do"


@pytest.mark.parametrize("site", SITES)
def test_otsu_finds_more_than_the_blackest_frames(large: Benchmark, site: str) -> None:
    """The paper's gate, knowing 100 random images: not so where one outlier outlies all others."""
    pool = np.random.default_rng(0).permutation(rows(large, site, TRAIN))
    known, rest = pool[:100], pool[100:]
    outlier = large.manifest.label == OUTLIER
    assert large.coverage is not None
    g, labels = torch.from_numpy(large.coverage), torch.from_numpy(large.manifest.label)
    inside = known[~outlier[known]]
    decision = Gate().decide(g[rest], g[inside], labels[inside], g[known[outlier[known]]])
    refused = ~decision.keep.numpy()
    assert refused[outlier[rest]].mean() > 0.7
    assert refused[~outlier[rest]].mean() < 0.25


@pytest.mark.parametrize("site", SITES)
def test_prompts_help_and_err(large: Benchmark, site: str) -> None:
    pool = rows(large, site, TRAIN)
    assert large.prompts is not None
    kept = np.array(large.prompts.in_distribution)[large.prompts.logits[pool].argmax(1)]
    outlier = large.manifest.label[pool] == OUTLIER
    assert 0.55 < kept[~outlier].mean() < 0.99
    assert 0.55 < 1 - kept[outlier].mean() < 0.99
