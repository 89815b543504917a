import itertools

import numpy as np
import torch

from fidal.seeds import numpy_generator, seed_of, torch_generator


def test_a_seed_is_the_same_on_any_machine() -> None:
    """SHA-256 of the words, parted by the unit separator; changed, no stored run could go on."""
    assert seed_of(0, "train", "clinic-a", 3) == 4674058954664119429
    assert seed_of() == int("e3b0c44298fc1c14", 16) >> 1  # the hash of nothing at all


def test_every_word_counts_and_so_does_their_order() -> None:
    purposes = [
        (0, "train", "a", 1),
        (1, "train", "a", 1),
        (0, "query", "a", 1),
        (0, "train", "b", 1),
        (0, "train", "a", 2),
        (0, "train", "a"),
        ("train", 0, "a", 1),
        (0, "tra", "ina", 1),
        (0, "train", "a1"),
    ]
    assert len({seed_of(*purpose) for purpose in purposes}) == len(purposes)


def test_seeds_are_what_both_libraries_take() -> None:
    seeds = [seed_of("any", i) for i in range(500)]
    assert len(set(seeds)) == 500
    assert min(seeds) >= 0 and 2**62 < max(seeds) < 2**63


def test_a_generator_is_made_anew_from_its_purpose() -> None:
    torch.rand(3)
    one, again = (numpy_generator(0, "query", "a", 1).random(4) for _ in range(2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, numpy_generator(0, "query", "a", 2).random(4))
    first, second = (torch.rand(4, generator=torch_generator(0, "train", "a")) for _ in range(2))
    assert torch.equal(first, second)
    assert torch_generator(0, "train", "a").initial_seed() == seed_of(0, "train", "a")


def test_draws_for_neighbouring_purposes_are_independent() -> None:
    """Ten streams of one site's rounds: correlations like those of any random numbers."""
    for streams in (
        np.stack([numpy_generator(0, "query", "a", i).random(4000) for i in range(10)]),
        np.stack([torch.rand(4000, generator=torch_generator(0, "t", i)) for i in range(10)]),
    ):
        r = np.corrcoef(streams)
        pairs = [abs(r[i, j]) for i, j in itertools.combinations(range(10), 2)]
        assert max(pairs) < 0.065  # four standard deviations of 1 / sqrt(4000)
        assert abs(streams.mean() - 0.5) < 0.006


def test_the_libraries_own_states_are_left_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    torch_generator("any").manual_seed(1)
    numpy_generator("any").random()
    assert torch.equal(torch.get_rng_state(), before)
