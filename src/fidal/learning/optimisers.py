"""Optimisers whose state changes in place, so that a captured step can go on using it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn, optim

from fidal.learning.objectives.base import Optimiser


def make_optimiser(settings: Optimiser, parameters: Sequence[nn.Parameter]) -> optim.Optimizer:
    """On a GPU one fused operation that reads its learning rate from the device."""
    device = parameters[0].device
    gpu = device.type == "cuda"
    rate = torch.tensor(settings.lr, device=device) if gpu else settings.lr
    if settings.kind == "adamw":
        adamw = optim.AdamW(
            parameters, lr=rate, weight_decay=settings.weight_decay, fused=gpu or None
        )
        make_capturable(adamw, gpu)
        return adamw
    return optim.SGD(
        parameters,
        lr=rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        fused=gpu or None,
    )


def make_capturable(adam: optim.Optimizer, gpu: bool) -> None:
    """On a GPU step counts are tensors there. The first step of a kind is not captured, on purpose,
    and torch need not warn of it.
    """
    for group in adam.param_groups:
        group["capturable"] = gpu
    adam._warned_capturable_if_run_uncaptured = True


def lower(optimiser: optim.Optimizer, settings: Optimiser, step: int) -> None:
    """The learning rate of communication round `step`, counted anew in each AL round."""
    rate = settings.lr * settings.gamma ** (step // settings.step) if settings.step else settings.lr
    for group in optimiser.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def reset(optimiser: optim.Optimizer) -> None:
    """Forget moments and step counts, in place. Zeros are what a fresh optimiser starts from."""
    for state in optimiser.state.values():
        for value in state.values():
            if isinstance(value, Tensor):
                value.zero_()
