import pytest
import torch

from fidal.data.benchmark import data_folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need a GPU or the real images run where these are present."""
    data = data_folder()
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
        if item.get_closest_marker("data") and not (data / "ham10000_fed4_128.npz").exists():
            item.add_marker(pytest.mark.skip(reason=f"no real images at {data}"))
