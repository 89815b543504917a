"""Random states as a pure function of what they are for.

Every draw of a run comes from a generator made from (seed, purpose, site, round, ...). So nothing
random has to be saved, a resumed run draws what the uninterrupted one would have drawn, and a site
draws the same whether it runs in this process or at a hospital.
"""

import hashlib

import numpy as np
import torch


def seed_of(*purpose: object) -> int:
    """63 bits from the words, e.g. seed_of(0, "train", "clinic-a", 3); the same on any machine."""
    text = "\x1f".join(str(word) for word in purpose)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def numpy_generator(*purpose: object) -> np.random.Generator:
    """For selection."""
    return np.random.default_rng(seed_of(*purpose))


def torch_generator(*purpose: object) -> torch.Generator:
    """For training, on the CPU: draws do not depend on the device that uses them."""
    return torch.Generator().manual_seed(seed_of(*purpose))
