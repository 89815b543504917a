from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.learning.feed import Feed

CPU = torch.device("cpu")


def test_images_come_as_nchw_in_the_unit_interval() -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    batch = Feed(images, CPU).take(torch.tensor([2, 0]))
    assert batch.shape == (2, 3, 6, 5)
    assert torch.equal(batch[0], torch.from_numpy(images[2]).permute(2, 0, 1) / 255)


def test_grayscale_is_repeated_to_three_channels() -> None:
    gray = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 1), dtype=np.uint8)
    feed = Feed(gray, CPU)
    batch = feed.take(torch.tensor([1, 3]))
    assert torch.equal(batch, Feed(gray.repeat(3, axis=3), CPU).take(torch.tensor([1, 3])))
    assert batch.is_contiguous(memory_format=torch.channels_last)
    assert feed.shape == (6, 5, 1)


def test_vectors_come_as_they_are() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    feed = Feed(vectors, CPU)
    assert len(feed) == 5 and feed.shape == (3,)
    assert torch.equal(feed.take(torch.tensor([4, 4, 1])), torch.from_numpy(vectors[[4, 4, 1]]))


def test_a_memory_mapped_file_is_read_by_the_rows_and_never_written(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    feed = Feed(np.load(tmp_path / "images.npy", mmap_mode="r"), CPU)
    batch = feed.take(torch.tensor([5, 2]))
    batch.zero_()
    again = feed.take(torch.tensor([5, 2]))
    assert torch.equal(again, torch.from_numpy(images[[5, 2]]).permute(0, 3, 1, 2) / 255)


def test_no_rows_are_an_empty_batch() -> None:
    feed = Feed(np.zeros((6, 4, 4, 3), np.uint8), CPU)
    assert feed.take(torch.zeros(0, dtype=torch.int64)).shape == (0, 3, 4, 4)


@pytest.mark.gpu
def test_inputs_that_fit_stay_on_the_gpu_and_are_the_same_there(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    rows = torch.tensor([3, 0, 3])
    device = torch.device("cuda")
    there = Feed(np.load(tmp_path / "images.npy", mmap_mode="r"), device).take(rows)
    assert there.device.type == "cuda"
    assert torch.equal(there.cpu(), Feed(images, CPU).take(rows))
