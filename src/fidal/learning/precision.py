"""In which arithmetic and memory layout a network runs."""

import torch

from fidal.learning.networks import Network
from fidal.types import Outputs


def forward(network: Network, x: torch.Tensor) -> Outputs:
    """Images in channels-last order, on a GPU that has bfloat16 in it; vectors plainly.

    The outputs, and so the loss, are float32 everywhere. Parameters stay float32. A linear probe
    is never rounded: it would gain nothing, and its queries shall not depend on the device.
    """
    if x.ndim != 4:
        return _said(network, x)
    x = x.contiguous(memory_format=torch.channels_last)
    if not (x.is_cuda and torch.cuda.is_bf16_supported(including_emulation=False)):
        return _said(network, x)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        said = _said(network, x)
    return Outputs(
        said.logits.float(),
        said.features.float(),
        {name: head.float() for name, head in said.heads.items()},
        None if said.spatial is None else said.spatial.float(),
    )


def _said(network: Network, x: torch.Tensor) -> Outputs:
    outputs: Outputs = network(x)
    return outputs
