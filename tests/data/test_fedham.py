import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from fidal.data.benchmark import Benchmark, DataAbsent, PromptScores
from fidal.data.fedham import CLASSES, HAM, PAD, SITES, SSCD, FedHam
from fidal.data.prompts import Prompts
from fidal.types import OUTLIER

TRAIN_PER_CLASS = {"vidir_molemax": (8, 40), "vidir_modern": (16, 24), "rosendahl": (12, 8)}
"""Of MEL and NV; 108 in all. Each site has 5 test images; vienna_dias has no images here."""


def webp(value: int) -> np.ndarray:
    file = io.BytesIO()
    Image.new("RGB", (128, 128), (value, value, 255)).save(file, "WEBP", lossless=True)
    return np.frombuffer(file.getvalue(), dtype=np.uint8)


def write_images(path: Path, values: list[int], **columns: np.ndarray) -> None:
    files = [webp(value) for value in values]
    offset = np.cumsum([0, *(len(file) for file in files)])
    np.savez(path, image=np.concatenate(files), offset=offset, **columns)


def small_data(folder: Path) -> None:
    """108 training, 15 test images and 36 photos. The green of an image is its row."""
    site, target, fold = [], [], []
    for name, (mel, nv) in TRAIN_PER_CLASS.items():
        site += [name] * (mel + nv + 5)
        target += [0] * mel + [1] * nv + [1] * 5
        fold += ["train"] * (mel + nv) + ["test"] * 5
    n, m = len(site), 36
    group = np.array([f"HAM_{i}" for i in range(n)])
    group[48] = group[0]  # the first training lesion is also in the test
    ham_id = np.array([f"ISIC_{i:04d}" for i in range(n)])
    pad_id = np.array([f"PAT_{i:03d}" for i in range(m)])
    write_images(
        folder / HAM,
        list(range(n)),
        id=ham_id,
        group=group,
        target=np.array(target),
        fold=np.array(fold),
        dx=np.array([["mel", "nv"][t] for t in target]),
        dx_type=np.full(n, "histo"),
        site=np.array(site),
    )
    write_images(
        folder / PAD,
        list(range(n, n + m)),
        id=pad_id,
        patient=np.array([f"PAT_{i // 3}" for i in range(m)]),
        diagnostic=np.full(m, "NEV"),
        fitzpatrick=np.full(m, "2.0"),
    )
    vectors = np.arange((n + m) * 4, dtype=np.float16).reshape(-1, 4)
    np.savez(
        folder / SSCD, ham_id=ham_id, ham_sscd=vectors[:n], pad_id=pad_id, pad_sscd=vectors[n:]
    )


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    small_data(folder)
    monkeypatch.setenv("FIDAL_DATA", str(folder))
    return folder


def load(tmp_path: Path, **fields: object) -> Benchmark:
    return FedHam(**{"view": "embeddings", **fields}).load(tmp_path / "cache")  # type: ignore[arg-type]


def counts(benchmark: Benchmark) -> dict[str, list[int]]:
    """Per site: training images of the first two classes, outliers, test images."""
    m = benchmark.manifest
    train = m.split == "train"
    kinds = (train & (m.label == 0), train & (m.label == 1), m.label == OUTLIER, ~train)
    return {s: [int((kind & (m.site == s)).sum()) for kind in kinds] for s in m.sites}


def test_below_the_natural_share_all_id_and_a_part_of_the_photos(
    data: Path, tmp_path: Path
) -> None:
    # 36 of 144 are 25 %. At 10 %: 12 photos, in proportion 48 : 40 : 20 -> 5.33, 4.44, 2.22.
    assert counts(load(tmp_path, ood_share=0.1)) == {
        "vidir_molemax": [8, 40, 5, 5],
        "vidir_modern": [16, 24, 5, 5],
        "rosendahl": [12, 8, 2, 5],
    }


def test_above_it_all_photos_and_id_cut_in_proportion(data: Path, tmp_path: Path) -> None:
    # At 40 %: 54 of 108 ID. Sites 24, 20, 10; classes 4 : 20, 8 : 12, 6 : 4.
    assert counts(load(tmp_path, ood_share=0.4)) == {
        "vidir_molemax": [4, 20, 16, 5],
        "vidir_modern": [8, 12, 13, 5],
        "rosendahl": [6, 4, 7, 5],
    }


def test_no_outliers(data: Path, tmp_path: Path) -> None:
    manifest = load(tmp_path, ood_share=0).manifest
    assert (manifest.label >= 0).all()
    assert len(manifest.ids) == 123


def test_each_site_its_own_share_of_outliers(data: Path, tmp_path: Path) -> None:
    # 48 : 40 : 20 ID and odds 0, 1/4, 4 want 90 photos of 36: 0.4 of the ID, 0 : 4 : 32 photos.
    shares = {"vidir_molemax": 0.0, "vidir_modern": 0.2, "rosendahl": 0.8, "vienna_dias": 0.3}
    assert counts(load(tmp_path, ood_share=shares)) == {
        "vidir_molemax": [3, 16, 0, 5],
        "vidir_modern": [6, 10, 4, 5],
        "rosendahl": [5, 3, 32, 5],
    }
    del shares["rosendahl"]
    with pytest.raises(ValueError, match="ood_share has no entry for site 'rosendahl'"):
        load(tmp_path, ood_share=shares)


def test_a_site_may_lack_classes_in_its_pool_but_not_in_its_test(
    data: Path, tmp_path: Path
) -> None:
    everything = counts(load(tmp_path, ood_share=0))
    fewer = counts(load(tmp_path, ood_share=0, lacking={"vidir_modern": ["NV", "DF"]}))
    assert everything.pop("vidir_modern") == [16, 24, 0, 5]
    assert fewer.pop("vidir_modern") == [16, 0, 0, 5]
    assert fewer == everything


def test_outliers_that_come_later(data: Path, tmp_path: Path) -> None:
    assert load(tmp_path).manifest.since is None
    manifest = load(tmp_path, ood_from=3).manifest
    assert manifest.since is not None
    np.testing.assert_array_equal(manifest.since, 3 * (manifest.label == OUTLIER))


def test_validation_takes_a_third_of_the_training_images_and_none_of_the_test(
    data: Path, tmp_path: Path
) -> None:
    usual = load(tmp_path, ood_share=0.1).manifest
    known = {kind: set(np.array(usual.ids)[usual.split == kind]) for kind in ("train", "test")}
    seen = []
    for seed in (1, 2):
        manifest = load(tmp_path, ood_share=0.1, split="validation", seed=seed).manifest
        ids, test = np.array(manifest.ids), manifest.split == "test"
        assert test.sum() == 36 and (manifest.label[test] >= 0).all()
        assert not known["test"] & set(ids)
        assert set(ids[manifest.label >= 0]) <= known["train"]
        # 72 of 108 are left: at 10 % that is 8 photos.
        assert (~test & (manifest.label >= 0)).sum() == 72
        assert (manifest.label == OUTLIER).sum() == 8
        seen.append(set(ids[test]))
    assert seen[0] != seen[1]


def test_every_array_is_of_its_own_image(data: Path, tmp_path: Path) -> None:
    benchmark = load(tmp_path, view="images")
    manifest = benchmark.manifest
    number = {f"ISIC_{i:04d}": i for i in range(123)} | {f"PAT_{i:03d}": 123 + i for i in range(36)}
    row = np.array([number[name] for name in manifest.columns["image"]])
    assert benchmark.inputs.shape == (len(row), 128, 128, 3)
    assert benchmark.inputs.dtype == np.uint8
    np.testing.assert_array_equal(benchmark.inputs[:, 5, 5, 1], row)
    assert benchmark.coverage is not None
    np.testing.assert_array_equal(benchmark.coverage, row[:, None] * 4 + np.arange(4))
    np.testing.assert_array_equal(manifest.label == OUTLIER, row >= 123)
    np.testing.assert_array_equal(manifest.columns["kind"] == "pad", row >= 123)
    probe = load(tmp_path)
    assert probe.manifest.ids == manifest.ids
    assert probe.inputs.dtype == np.float32
    np.testing.assert_array_equal(probe.inputs, benchmark.coverage)


@pytest.mark.parametrize("view", ["images", "embeddings"])
def test_prompts_see_the_images_in_either_view(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    asked: list[tuple[str, ...]] = []

    def scores(
        self: Prompts, ids: tuple[str, ...], images: np.ndarray, cache: Path
    ) -> PromptScores:
        asked.append(ids)
        return PromptScores(images[:, 0, 0, :2].astype(np.float32), (True, False))

    monkeypatch.setattr(Prompts, "scores", scores)
    source = FedHam.model_validate({"view": view, "prompts": "fedisic"})
    benchmark = source.load(tmp_path / "cache")
    assert asked == [benchmark.manifest.ids] and benchmark.prompts is not None
    # Red and green of an image are its row in the files, as its vector's first number is by four.
    assert benchmark.coverage is not None
    expected = np.repeat(benchmark.coverage[:, :1] / 4, 2, axis=1)
    np.testing.assert_array_equal(benchmark.prompts.logits, expected)
    assert benchmark.inputs.ndim == (4 if view == "images" else 2)
    bare = source.bare()
    assert isinstance(bare, FedHam) and bare.view == "images" and bare.prompts is None


def test_columns_say_what_is_known_of_each_kind(data: Path, tmp_path: Path) -> None:
    manifest = load(tmp_path).manifest
    assert manifest.classes == CLASSES
    photo = manifest.label == OUTLIER
    columns = manifest.columns
    assert set(columns["fitzpatrick"][photo]) == {"2.0"}
    assert set(columns["fitzpatrick"][~photo]) == {""}
    assert set(columns["dx_type"][~photo]) == {"histo"}
    assert set(columns["dx"][photo]) == {"NEV"}
    assert manifest.group is not None
    assert (manifest.group[photo] == columns["patient"][photo]).all()


def test_ids_are_unique_stable_and_do_not_tell_the_kind(data: Path, tmp_path: Path) -> None:
    whole = load(tmp_path, ood_share=0.25).manifest
    part = load(tmp_path, ood_share=0.5, seed=4).manifest
    assert len(set(whole.ids)) == len(whole.ids)
    names = dict(zip(whole.columns["image"].tolist(), whole.ids, strict=True))
    assert all(names[n] == i for n, i in zip(part.columns["image"].tolist(), part.ids, strict=True))
    assert names["ISIC_0000"] == "15582e67f91d"
    by_id = np.argsort(np.array(whole.ids))
    places = np.flatnonzero((whole.label == OUTLIER)[by_id])
    assert places.min() < 20
    assert places.max() > len(by_id) - 20


def test_photos_of_a_patient_stay_together_up_to_the_borders_of_sites(
    data: Path, tmp_path: Path
) -> None:
    manifest = load(tmp_path, ood_share=0.25).manifest
    photo = manifest.label == OUTLIER
    sites: dict[str, set[str]] = {}
    for patient, site in zip(manifest.columns["patient"][photo], manifest.site[photo], strict=True):
        sites.setdefault(patient, set()).add(site)
    assert len(sites) == 12
    assert sum(len(at) > 1 for at in sites.values()) <= 2


def test_the_seed_says_which_images_not_how_many(data: Path, tmp_path: Path) -> None:
    one, again, other = (load(tmp_path, ood_share=0.4, seed=s) for s in (0, 0, 1))
    assert one.manifest.ids == again.manifest.ids
    assert set(one.manifest.ids) != set(other.manifest.ids)
    assert counts(one) == counts(other)


def test_lesion_disjoint_keeps_the_test_and_drops_training_images(
    data: Path, tmp_path: Path
) -> None:
    flamby = load(tmp_path, ood_share=0).manifest
    lesion = load(tmp_path, ood_share=0, split="lesion").manifest
    assert set(flamby.ids) - set(lesion.ids) == {
        i for i, n in zip(flamby.ids, flamby.columns["image"], strict=True) if n == "ISIC_0000"
    }
    assert (lesion.split == "test").sum() == (flamby.split == "test").sum() == 15
    assert lesion.group is not None
    train = lesion.split == "train"
    assert not set(lesion.group[train]) & set(lesion.group[~train])


@pytest.mark.parametrize("share", [-0.1, 0.91, {"vidir_modern": 0.95}])
def test_shares_that_the_data_cannot_give(share: object) -> None:
    with pytest.raises(ValidationError, match="ood_share"):
        FedHam.model_validate({"ood_share": share})


@pytest.mark.parametrize("file", [HAM, PAD, SSCD])
def test_absent_files_are_said_with_place_content_and_variable(
    data: Path, tmp_path: Path, file: str
) -> None:
    (data / file).unlink()
    with pytest.raises(DataAbsent) as error:
        load(tmp_path)
    for word in (f"'{file}'", str(data), "HAM10000", "PAD-UFES-20", "SSCD", "FIDAL_DATA"):
        assert word in str(error.value)


def test_damaged_or_foreign_files(data: Path, tmp_path: Path) -> None:
    sscd = dict(np.load(data / SSCD))
    np.savez(data / SSCD, **{**sscd, "pad_id": sscd["pad_id"][::-1]})
    with pytest.raises(ValueError, match=f"'pad_id' of {SSCD} and 'id' of {PAD} differ"):
        load(tmp_path)
    del sscd["ham_id"]
    np.savez(data / SSCD, **sscd)
    with pytest.raises(ValueError, match="array 'ham_id' is missing; did you mean"):
        load(tmp_path)
    (data / SSCD).write_bytes((data / PAD).read_bytes()[:5000])
    with pytest.raises(ValueError, match=f"{SSCD}: not a readable .npz"):
        load(tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(
    ("share", "split", "n_id", "n_ood"),
    [
        (0.0, "flamby", (3163, 2691, 1807, 351), (0, 0, 0, 0)),
        (0.05, "flamby", (3163, 2691, 1807, 351), (167, 142, 95, 18)),
        (0.15, "flamby", (3083, 2623, 1761, 342), (544, 463, 311, 60)),
        (0.30, "flamby", (1269, 1080, 725, 141), (544, 463, 311, 60)),
        (0.387, "flamby", (862, 733, 492, 96), (544, 463, 311, 60)),
        (0.0, "lesion", (3160, 2110, 1529, 285), (0, 0, 0, 0)),
        (0.30, "lesion", (1434, 958, 694, 129), (615, 411, 297, 55)),
    ],
)
def test_real_counts(
    tmp_path: Path, share: float, split: str, n_id: tuple[int, ...], n_ood: tuple[int, ...]
) -> None:
    benchmark = load(tmp_path, ood_share=share, split=split)
    m = benchmark.manifest
    assert m.sites == SITES
    assert len(set(m.ids)) == len(m.ids)
    train, out = m.split == "train", m.label == OUTLIER
    for site, expected_id, expected_ood, test in zip(
        SITES, n_id, n_ood, (791, 672, 452, 88), strict=True
    ):
        here = m.site == site
        assert (here & train & ~out).sum() == expected_id
        assert (here & out).sum() == expected_ood
        assert (here & ~train).sum() == test
    assert out.sum() / train.sum() == pytest.approx(share, abs=1e-4)


@pytest.mark.data
def test_real_class_mix_at_the_default_share(tmp_path: Path) -> None:
    m = load(tmp_path).manifest
    mix = {
        site: np.bincount(
            m.label[(m.site == site) & (m.split == "train") & (m.label >= 0)], minlength=8
        ).tolist()
        for site in SITES
    }
    assert mix == {
        "vidir_molemax": [8, 1194, 1, 0, 39, 9, 18, 0],
        "vidir_modern": [214, 590, 70, 8, 152, 16, 26, 4],
        "rosendahl": [111, 260, 89, 35, 163, 8, 1, 58],
        "vienna_dias": [23, 111, 2, 0, 2, 2, 1, 0],
    }


@pytest.mark.data
def test_real_embeddings_tell_photos_from_dermoscopy(tmp_path: Path) -> None:
    """A diagonal Gaussian on 200 ID images of each site, as in the data's own notes."""
    benchmark = load(tmp_path)
    m, g = benchmark.manifest, benchmark.coverage
    assert g is not None
    np.testing.assert_allclose(np.linalg.norm(g, axis=1), 1, atol=2e-3)
    rng = np.random.default_rng(0)
    for site, expected in zip(SITES, (0.987, 0.947, 0.970, 0.977), strict=True):
        here = (m.site == site) & (m.split == "train")
        inside = rng.permutation(np.flatnonzero(here & (m.label >= 0)))
        fit, rest = inside[: min(200, len(inside) // 2)], inside[min(200, len(inside) // 2) :]
        mean, spread = g[fit].mean(0), g[fit].var(0) + 1e-6
        score = -(((g - mean) ** 2) / spread).sum(1)
        photos = np.flatnonzero(here & (m.label == OUTLIER))
        auroc = (score[rest][:, None] > score[photos][None]).mean()
        assert auroc == pytest.approx(expected, abs=0.02), site


@pytest.mark.data
@pytest.mark.slow
def test_real_images_are_decoded_as_they_are(tmp_path: Path) -> None:
    """The smallest pool, 4,300 images. Dermoscopy, lit and pressed on the skin, is brighter."""
    benchmark = load(tmp_path, view="images", ood_share=0.6)
    assert benchmark.inputs.shape == (4300, 128, 128, 3)
    small = benchmark.inputs[:, ::8, ::8].astype(np.float32)
    assert small.std(axis=(1, 2, 3)).min() > 5
    photo = benchmark.manifest.label == OUTLIER
    assert small[~photo, ..., 0].mean() > small[photo, ..., 0].mean() + 15
