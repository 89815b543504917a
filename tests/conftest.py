import shutil

import pytest
import torch

from fidal.data.benchmark import data_folder

PROGRAMS = {"browser": "chromium", "latex": "pdflatex"}
"""Programs of the system by the marker of the tests that start them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need a GPU, the real images or a program run where these are present."""
    data = data_folder()
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
        if item.get_closest_marker("data") and not (data / "ham10000_fed4_128.npz").exists():
            item.add_marker(pytest.mark.skip(reason=f"no real images at {data}"))
        for marker, program in PROGRAMS.items():
            if item.get_closest_marker(marker) and shutil.which(program) is None:
                item.add_marker(pytest.mark.skip(reason=f"no {program} here"))
